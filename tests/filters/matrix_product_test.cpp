// Tests the matrix product. Small products must be those computed by hand. The fast form must be near sums in double.
#include <cmath>

#include "filters_test_support.h"

namespace c63 {
namespace {

TEST(MatrixProduct, ByHand) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};      // 2x3
  const std::vector<float> b = {1, 0, 0, 1, 10, 100};   // 3x2
  std::vector<float> c(4, -1);
  for (const FilterForm form : {FilterForm::serial, FilterForm::fast}) {
    multiply({a.data(), 3, 2, 3}, {b.data(), 2, 3, 2}, {c.data(), 2, 2, 2}, form);
    EXPECT_EQ(c, (std::vector<float>{31, 302, 64, 605}));
  }
}

TEST(MatrixProduct, FastIsCloseAtOddSizes) {
  for (const auto& [rows, depth, columns] : std::vector<std::array<int, 3>>{
           {1, 1, 1}, {0, 3, 2}, {3, 0, 5}, {5, 3, 0}, {17, 33, 31}, {3, 129, 257}, {130, 300, 70}, {64, 64, 64}}) {
    const Picture<float> a({depth, rows}, Content::random, 1);
    const Picture<float> b({columns, depth}, Content::random, 2);
    Picture<float> expected({columns, rows}), got({columns, rows});
    multiply(a.view(), b.view(), expected.view(), FilterForm::serial);
    multiply(a.view(), b.view(), got.view(), FilterForm::fast);
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        double magnitude = 0;
        for (int k = 0; k < depth; ++k) magnitude += std::abs(a.view().at(k, y) * b.view().at(x, k));
        ASSERT_NEAR(expected.view().at(x, y), got.view().at(x, y), 1e-5 * magnitude);
      }
    }
    EXPECT_EQ(got.samples.back(), 77) << "wrote outside";
  }
}

TEST(MatrixProduct, ReportsWrongArguments) {
  std::vector<float> m(100);
  EXPECT_EQ(error_id([&] { multiply({m.data(), 3, 2, 3}, {m.data(), 2, 4, 2}, {m.data() + 50, 2, 2, 2}); }), "C63-FILTER-SHAPE");
  EXPECT_EQ(error_id([&] { multiply({m.data(), 2, 2, 2}, {m.data() + 4, 2, 2, 2}, {m.data() + 2, 2, 2, 2}); }),
            "C63-FILTER-OVERLAP");
}

}  // namespace
}  // namespace c63
