// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <string>

namespace frit {
namespace {

Status fail_if(bool fail) {
  if (fail) return Status::error(Code::not_found, "expected %d, found %s", 3, "nothing");
  return {};
}

Result<int> number_if(bool good) {
  FRIT_TRY(fail_if(!good));
  return 7;
}

Status chain(bool good) {
  const Result<int> n = number_if(good);
  FRIT_TRY(n);
  EXPECT_EQ(*n, 7);
  return {};
}

TEST(Status, KeepsCodeAndMessageThroughCopiesAndMoves) {
  Status a = fail_if(true);
  const Status b = a;
  const Status c = std::move(a);
  EXPECT_EQ(b.code(), Code::not_found);
  EXPECT_STREQ(b.message(), "expected 3, found nothing");
  EXPECT_STREQ(c.message(), b.message());
  EXPECT_NE(c.message(), b.message());
  EXPECT_TRUE(fail_if(false).ok());
  EXPECT_STREQ(fail_if(false).message(), "");
}

TEST(Status, BorrowedKeepsThePointer) {
  static const char kText[] = "text";
  const Status a = Status::borrowed(Code::internal, kText);
  const Status b = a;
  EXPECT_EQ(b.message(), kText);
}

TEST(Status, CutsLongMessages) {
  const std::string text(5000, 'x');
  EXPECT_EQ(std::string(Status::error(Code::internal, "%s", text.c_str()).message()).size(),
            static_cast<std::size_t>(kMaxMessage - 1));
}

TEST(Result, TryPassesErrorsOn) {
  EXPECT_TRUE(chain(true).ok());
  EXPECT_EQ(chain(false).code(), Code::not_found);
  EXPECT_FALSE(number_if(false).ok());
}

TEST(Status, EveryCodeHasAName) {
  EXPECT_STREQ(code_name(Code::ok), "ok");
  EXPECT_STREQ(code_name(Code::shape_mismatch), "shape_mismatch");
  EXPECT_STREQ(code_name(static_cast<Code>(99)), "unknown");
}

}  // namespace
}  // namespace frit
