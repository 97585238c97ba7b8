#define CK_VARIANTS
#define VARIANT baseline
#define VARIANT_NAME "baseline"
#include "renamed.h"
