// Carries the headers that the tests compile once (config/cmake/AshlarRoom.cmake).
#include <gtest/gtest.h>
