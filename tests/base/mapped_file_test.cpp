// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace frit {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / ("frit_files_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST_F(Files, WritesAndMaps) {
  ASSERT_TRUE(write_file(path("a").c_str(), bytes("hello")).ok());
  const Result<MappedFile> file = MappedFile::open(path("a").c_str());
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->bytes().size(), 5u);
  EXPECT_EQ(std::memcmp(file->bytes().data(), "hello", 5), 0);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, ReplacesWholeFilesOnly) {
  ASSERT_TRUE(write_file(path("a").c_str(), bytes("old")).ok());
  const Result<MappedFile> old = MappedFile::open(path("a").c_str());
  {
    Result<AtomicFile> unfinished = AtomicFile::create(path("a").c_str());
    ASSERT_TRUE(unfinished.ok());
    ASSERT_TRUE(unfinished->write(bytes("new contents")).ok());
    EXPECT_EQ(MappedFile::open(path("a").c_str())->bytes().size(), 3u);
  }
  EXPECT_EQ(entries(), 1u);
  Result<AtomicFile> file = AtomicFile::create(path("a").c_str());
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes("xew contents")).ok());
  ASSERT_TRUE(file->write_at(0, bytes("n")).ok());
  ASSERT_TRUE(file->commit().ok());
  const Result<MappedFile> mapped = MappedFile::open(path("a").c_str());
  ASSERT_EQ(mapped->bytes().size(), 12u);
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), "new contents", 12), 0);
  EXPECT_EQ(std::memcmp(old->bytes().data(), "old", 3), 0);
}

TEST_F(Files, SaysWhatIsWrong) {
  const Result<MappedFile> missing = MappedFile::open(path("none").c_str());
  EXPECT_EQ(missing.status().code(), Code::not_found);
  EXPECT_NE(std::strstr(missing.status().message(), "none"), nullptr);
  EXPECT_EQ(MappedFile::open(folder_.c_str()).status().code(), Code::io_error);
  EXPECT_EQ(write_file(path("no/such/folder").c_str(), bytes("x")).code(), Code::not_found);
  ASSERT_TRUE(write_file(path("empty").c_str(), {}).ok());
  EXPECT_TRUE(MappedFile::open(path("empty").c_str())->bytes().empty());
}

}  // namespace
}  // namespace frit
