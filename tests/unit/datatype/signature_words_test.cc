#include "framework/datatype/signature_words.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

using datatype::predefined;

std::string words(Datatype& type, MPI_Count count, std::size_t room = 200) {
  std::string text(room, '?');
  datatype::describe_signature(DataView{nullptr, count, &type}, text.data(), room);
  return text.c_str();
}

bool accepted(Datatype& sent, MPI_Count count, Datatype& wanted, MPI_Count room) {
  const datatype::Signature s = datatype::signature_of(DataView{nullptr, count, &sent});
  return datatype::accepts(DataView{nullptr, room, &wanted}, s.hash, s.elements, count * sent.size());
}

TEST(SignatureWords, SayWhatTravels) {
  datatype::register_predefined();
  Datatype *mixed = nullptr, *row = nullptr, *nest = nullptr;
  const int lengths[] = {1, 0, 3};
  const MPI_Aint places[] = {0, 4, 8};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR, MPI_INT};
  ASSERT_TRUE(datatype::create_struct(3, IntArray(lengths), IntArray(places), types, &mixed).ok());
  ASSERT_TRUE(datatype::vector(4, 2, 5, predefined(MPI_SHORT), &row).ok());
  ASSERT_TRUE(datatype::contiguous(2, *mixed, &nest).ok());
  [[maybe_unused]] const auto keep = {oracle::committed(mixed), oracle::committed(row), oracle::committed(nest)};
  EXPECT_EQ(words(predefined(MPI_INT), 1), "MPI_INT");
  EXPECT_EQ(words(predefined(MPI_INT), 100), "100 x MPI_INT");
  EXPECT_EQ(words(predefined(MPI_INT), 0), "nothing");
  EXPECT_EQ(words(*row, 3), "24 x MPI_SHORT");
  EXPECT_EQ(words(*mixed, 1), "MPI_DOUBLE, 3 x MPI_INT");
  EXPECT_EQ(words(*mixed, 2), "2 x (MPI_DOUBLE, 3 x MPI_INT)");
  EXPECT_EQ(words(*nest, 5), "5 x (2 x (MPI_DOUBLE, 3 x MPI_INT))");
  EXPECT_EQ(words(predefined(MPI_DOUBLE_INT), 2), "2 x (MPI_DOUBLE, MPI_INT)");
  EXPECT_EQ(words(predefined(MPI_2INT), 2), "4 x MPI_INT");
  EXPECT_EQ(words(*mixed, 1, 16), "MPI_DOUBLE, ...");
}

TEST(SignatureWords, AMessageMayBeShorterThanItsReceive) {
  datatype::register_predefined();
  Datatype* mixed = nullptr;
  const int lengths[] = {1, 3};
  const MPI_Aint places[] = {8, 0};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  ASSERT_TRUE(datatype::create_struct(2, IntArray(lengths), IntArray(places), types, &mixed).ok());
  const auto keep = oracle::committed(mixed);
  EXPECT_TRUE(accepted(predefined(MPI_DOUBLE), 1, *mixed, 2));
  EXPECT_FALSE(accepted(predefined(MPI_DOUBLE), 2, *mixed, 2));
  EXPECT_TRUE(accepted(*mixed, 1, *mixed, 2));
  EXPECT_FALSE(accepted(predefined(MPI_INT), 1, *mixed, 1));
  EXPECT_TRUE(accepted(predefined(MPI_DOUBLE_INT), 1, *mixed, 1));
  EXPECT_FALSE(accepted(predefined(MPI_CHAR), 4, predefined(MPI_INT), 1));
  EXPECT_FALSE(accepted(predefined(MPI_BYTE), 4, predefined(MPI_CHAR), 4));
  EXPECT_TRUE(accepted(predefined(MPI_PACKED), 4, predefined(MPI_CHAR), 4));
  EXPECT_TRUE(accepted(predefined(MPI_PACKED), 8, predefined(MPI_INT), 3));
  EXPECT_FALSE(accepted(predefined(MPI_PACKED), 10, predefined(MPI_INT), 3));       // ends inside an element
  EXPECT_TRUE(accepted(predefined(MPI_PACKED), 8, predefined(MPI_DOUBLE_INT), 1));  // between two of one item
  EXPECT_FALSE(accepted(predefined(MPI_PACKED), 9, predefined(MPI_DOUBLE_INT), 1));
  EXPECT_TRUE(accepted(predefined(MPI_CHAR), 4, predefined(MPI_PACKED), 9));
  EXPECT_TRUE(accepted(predefined(MPI_CHAR), 0, predefined(MPI_INT), 1));
}

// The first n elements of a random datatype, spelled out as a struct, are accepted; others are not.
TEST(SignatureWords, RandomBeginnings) {
  std::mt19937_64 random(11);
  for (int n = 0; n < 200; ++n) {
    const oracle::Sample sample = oracle::random_sample(random, 3);
    const datatype::Signature whole = datatype::signature_of(DataView{nullptr, 2, sample.type.get()});
    if (whole.elements == 0) continue;
    SCOPED_TRACE(sample.text);
    EXPECT_TRUE(accepted(*sample.type, 1, *sample.type, 2));
    EXPECT_TRUE(accepted(*sample.type, 2, *sample.type, 2));
    EXPECT_FALSE(accepted(predefined(MPI_WCHAR), 1, *sample.type, 2));
  }
}

// What a packed copy is sent as: the bytes of MPI_PACKED, the signature of what they are.
TEST(SignatureWords, PackedFormsKeepTheSignature) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 200; ++round) {
    const oracle::Sample sample = oracle::random_sample(random, 1 + round % 4);
    Datatype& type = *sample.type;
    Ref<Datatype> form;
    ASSERT_TRUE(datatype::packed_form(type, &form).ok());
    EXPECT_TRUE(form->committed() && form->dense());
    EXPECT_EQ(form->size(), type.size());
    EXPECT_EQ(form->extent(), type.size());
    EXPECT_EQ(form->signature(), type.signature());
    char words[2][200];
    datatype::describe_signature(DataView{nullptr, 3, &type}, words[0], sizeof words[0]);
    datatype::describe_signature(DataView{nullptr, 3, form.get()}, words[1], sizeof words[1]);
    EXPECT_STREQ(words[0], words[1]);
    const datatype::Signature all = datatype::signature_of(DataView{nullptr, 3, &type});
    EXPECT_TRUE(datatype::accepts(DataView{nullptr, 3, form.get()}, all.hash, all.elements, 3 * type.size()));
  }
}

}  // namespace
}  // namespace ashlar
