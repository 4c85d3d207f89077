// Helpers of the tests of apps: temporary folders, error messages.
#pragma once

#include "apps/support/files.h"
#include "checks.h"
#include "core/check.h"
#include "temporary_folder.h"
