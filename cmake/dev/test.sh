# shellcheck shell=bash
# Sourced by farcl-dev: which builds the tests run in. What each run includes stands in CMakePresets.json.

command_test() {
  local presets=(release asan tsan) label='' quick=false chosen=''
  while (($#)); do
    case $1 in
      --quick) quick=true; shift ;;
      --label) label=${2:?--label needs a name}; shift 2 ;;
      --preset) chosen=${2:?--preset needs a name}; shift 2 ;;
      *) die "test: what is '$1'? See ./farcl-dev help" ;;
    esac
  done
  setup
  # One label: in the release build unless another was named; sanitizer builds take minutes.
  if [[ -n $chosen ]]; then presets=("$chosen"); elif $quick || [[ -n $label ]]; then presets=(release); fi

  local preset results=() failed=()
  for preset in "${presets[@]}"; do
    build_preset "$preset"
  done
  for preset in "${presets[@]}"; do
    local run=$preset options=()
    ! $quick || run=quick
    [[ -z $label ]] || options+=(-L "$label")
    say "tests of $preset"
    mkdir -p "build/$run"
    rm -f "build/$run/junit.xml"
    ctest --preset "$run" "${options[@]}" --show-only=json-v1 >"build/$run/tests.json"
    ctest --preset "$run" "${options[@]}" || failed+=("$run")
    results+=("build/$run/junit.xml")
  done
  say "time budgets"
  python3 tests/check_budgets.py tests/budgets.json "${results[@]}" || failed+=("time budgets")
  ((${#failed[@]} == 0)) || die "failed: ${failed[*]}"
  say "all tests passed"
}
