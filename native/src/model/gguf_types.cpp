#include "model/gguf_types.h"

#include <algorithm>
#include <array>
#include <map>

namespace llmservice {
namespace {

constexpr std::array<std::pair<uint32_t, DType>, 7> kTypes = {{{0, DType::kF32},
                                                               {1, DType::kF16},
                                                               {2, DType::kQ4_0},
                                                               {8, DType::kQ8_0},
                                                               {12, DType::kQ4_K},
                                                               {14, DType::kQ6_K},
                                                               {30, DType::kBF16}}};

// What the types are called that the engine does not read.
const std::map<uint32_t, const char*>& foreign_names() {
  static const std::map<uint32_t, const char*> names = {
      {3, "Q4_1"},     {6, "Q5_0"},   {7, "Q5_1"},    {9, "Q8_1"},     {10, "Q2_K"},
      {11, "Q3_K"},    {13, "Q5_K"},  {15, "Q8_K"},   {16, "IQ2_XXS"}, {17, "IQ2_XS"},
      {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"},   {22, "IQ2_S"},
      {23, "IQ4_XS"},  {24, "I8"},    {25, "I16"},    {26, "I32"},     {27, "I64"},
      {28, "F64"},     {29, "IQ1_M"}, {34, "TQ1_0"},  {35, "TQ2_0"},   {39, "MXFP4"}};
  return names;
}

}  // namespace

std::optional<DType> gguf_type(uint32_t number) {
  const auto found = std::ranges::find(kTypes, number, &std::pair<uint32_t, DType>::first);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

std::string gguf_type_name(uint32_t number) {
  if (const auto type = gguf_type(number)) return name_of(*type);
  const auto found = foreign_names().find(number);
  return found == foreign_names().end() ? "number " + std::to_string(number) : found->second;
}

}  // namespace llmservice
