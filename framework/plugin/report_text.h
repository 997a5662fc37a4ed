#pragma once
#include <string>

#include "framework/plugin/report.h"

namespace ashlar::plugin {

/// "ashlar: rank 3 of 8 on node7", or "ashlar" before the job is known.
std::string speaker(const ashlar_report_context& context);

/// The paragraph for people, each line ended: the record's own words, after the process that speaks.
std::string error_text(const ashlar_report_context& context, const ashlar_error_record& record);
std::string notice_text(const ashlar_report_context& context, const ashlar_notice& notice);
std::string decision_text(const ashlar_decision& decision);

/// One JSON object in one line, ended. Members that are not known are left out.
std::string error_json(const ashlar_report_context& context, const ashlar_error_record& record);
std::string notice_json(const ashlar_report_context& context, const ashlar_notice& notice);
std::string decision_json(const ashlar_report_context& context, const ashlar_decision& decision);

/// One write, so that lines of several ranks on one pipe stay whole.
void write_whole(int fd, const std::string& text) noexcept;

}  // namespace ashlar::plugin
