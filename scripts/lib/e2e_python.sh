# The Python packages of tests/e2e, pinned, in an environment of their own that is made once. Sets `venv`. To be sourced in the project's root.
prepare_python() {
  local key
  key=$(sha256sum tests/e2e/requirements.txt)
  venv=${QUORATE_CACHE:-$HOME/.cache/quorate}/venv-${key:0:12}
  [[ -e $venv/complete ]] && return
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement tests/e2e/requirements.txt
  touch "$venv/complete"
}
