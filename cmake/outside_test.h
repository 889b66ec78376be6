// As outside.h, for tests.
#pragma once

#include "outside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
