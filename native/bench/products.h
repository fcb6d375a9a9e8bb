// Products alone, on one core: `llmservice_bench products`.
#pragma once

#include <string>
#include <vector>

namespace llmservice::bench {

// Bytes and multiply-adds per second of instruction families by weight format and number of rows, medians of
// `rounds` in which the families take turns; when none is named, of the machine's best two.
void report_products(int rounds, std::vector<std::string> isas);

}  // namespace llmservice::bench
