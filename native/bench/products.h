// Products alone, on one core: `llmservice_bench products`.
#pragma once

namespace llmservice::bench {

// Bytes and multiply-adds per second of each instruction family by weight format and number of rows, medians
// of `rounds` in which the families take turns.
void report_products(int rounds);

}  // namespace llmservice::bench
