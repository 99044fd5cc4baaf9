#!/usr/bin/env bash
# For Patches/demo.sh: AFTER_STEP="after_step.sh PYTHON CHECK_TREE" judges the published tree after each step.
set -euo pipefail
"$1" "$2" "$3" "$4" | sed "s/^/   judge of step $5: /"
