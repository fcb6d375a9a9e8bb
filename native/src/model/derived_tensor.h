// A tensor whose bytes are made from those that a file has.
#pragma once

#include "model/arrivals.h"
#include "model/stored_file.h"

namespace llmservice {

// It is read as if its bytes lay where those of the file do, from `begin` on. Waits for what it reads.
class DerivedTensor : public TensorFile {
 public:
  // Null `arrivals`: the file is complete.
  DerivedTensor(const TensorFile& from, uint64_t begin, const Arrivals* arrivals)
      : from_(from), begin_(begin), arrivals_(arrivals) {}
  const std::string& name() const override { return from_.name(); }
  void read(uint64_t offset, std::span<std::byte> out) const override { derive(offset - begin_, out); }

 protected:
  // From `offset` of the tensor.
  virtual void derive(uint64_t offset, std::span<std::byte> out) const = 0;
  void read_stored(uint64_t offset, std::span<std::byte> out) const { read_of(from_, begin_ + offset, out); }
  void read_of(const TensorFile& file, uint64_t at, std::span<std::byte> out) const {
    if (arrivals_ != nullptr) arrivals_->wait_for(file.name(), at, out.size());
    file.read(at, out);
  }

 private:
  const TensorFile& from_;
  uint64_t begin_;
  const Arrivals* arrivals_;
};

}  // namespace llmservice
