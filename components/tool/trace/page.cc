#include "components/tool/trace/document.h"
#include "framework/base/printable.h"

namespace ashlar::tool_trace {

extern const char* const kPage;  // made of page/

namespace {

std::string for_html(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// JSON as the contents of a script element: it holds nothing that ends the element or begins a comment, and no line
/// separator that older readers of JavaScript stumble over. What is replaced occurs inside strings alone.
std::string for_script(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else if (json.compare(i, 2, "\xe2\x80") == 0 && i + 2 < json.size() &&
               (json[i + 2] == '\xa8' || json[i + 2] == '\xa9')) {
      out += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string page(const std::string& document, const std::string& title) {
  std::string out = kPage;
  // From the back, so that what is put in is not searched.
  const auto put = [&](const char* hole, const std::string& text) {
    if (const std::size_t at = out.find(hole); at != out.npos)
      out.replace(at, std::char_traits<char>::length(hole), text);
  };
  put("@DATA@", for_script(document));
  put("@TITLE@", for_html(title));
  return out;
}

}  // namespace ashlar::tool_trace
