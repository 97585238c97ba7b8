#define CK_VARIANTS
#define CK_VECTOR 16
#define VARIANT baseline
#define VARIANT_NAME "baseline"
#include "renamed.h"
