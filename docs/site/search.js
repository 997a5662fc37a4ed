// Searches the index of the site: [{title, page, text}], in the reader's browser, with what any browser understands.
var AshlarSearch = (function () {
  "use strict";

  function words(text) {
    return text.toLowerCase().split(/[^a-z0-9_.]+/).filter(function (word) { return word.length > 0; });
  }

  // How well an entry answers: every word must be there; a title counts more than a text, a whole word more than a part.
  function score(entry, wanted) {
    var title = entry.title.toLowerCase(), text = entry.text.toLowerCase(), sum = 0;
    for (var i = 0; i < wanted.length; ++i) {
      var word = wanted[i];
      if (title === word) sum += 100;
      else if (words(title).indexOf(word) >= 0) sum += 40;
      else if (title.indexOf(word) >= 0) sum += 15;
      else if (text.indexOf(word) >= 0) sum += 3;
      else return 0;
    }
    return sum - title.length / 1000;  // of two that are alike, the shorter title
  }

  function find(index, question, most) {
    var wanted = words(question), found = [];
    if (wanted.length === 0) return found;
    index.forEach(function (entry) {
      var points = score(entry, wanted);
      if (points > 0) found.push({ entry: entry, points: points });
    });
    found.sort(function (a, b) { return b.points - a.points || (a.entry.title < b.entry.title ? -1 : 1); });
    return found.slice(0, most).map(function (one) { return one.entry; });
  }

  // The part of a text around the first word that was asked for.
  function excerpt(text, question) {
    var at = text.toLowerCase().indexOf(words(question)[0]), from = Math.max(0, at - 40);
    return (from > 0 ? "... " : "") + text.substr(from, 120) + (text.length > from + 120 ? " ..." : "");
  }

  function show(list, root, index, question) {
    while (list.firstChild) list.removeChild(list.firstChild);
    find(index, question, 30).forEach(function (entry) {
      var item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("small");
      link.href = root + entry.page;
      link.textContent = entry.title;
      text.textContent = excerpt(entry.text, question);
      item.appendChild(link);
      item.appendChild(text);
      list.appendChild(item);
    });
  }

  return { find: find, excerpt: excerpt, show: show };
})();

if (typeof document !== "undefined") {
  (function () {
    var field = document.getElementById("search"), list = document.getElementById("found");
    field.addEventListener("input", function () {
      AshlarSearch.show(list, field.getAttribute("data-root"), window.ASHLAR_INDEX || [], field.value);
    });
  })();
}
