#!/usr/bin/env bash
# Stages what an image of the project holds: `stage.sh operator|runtime` fills .stage/NAME and prints its path.
# Third-party packages (production dependencies only) go to node_modules, the compiled workspaces to packages/.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
source "$local_folder/lib/progress.sh"

workspace=${1:?usage: stage.sh operator|runtime}
stage=$repository/.stage/$workspace
cd "$repository"
[[ -f $workspace/dist/main.js ]] || die "$workspace is not built: run make build first"

# The closure of production dependencies, as npm sees it; links are the workspaces among them.
mapfile -t folders < <(npm ls --workspace "@llmservice/$workspace" --omit=dev --all --parseable 2>/dev/null | sed -n "s|^$repository/||p" | sort -u)
rm -rf "$stage"
mkdir -p "$stage/node_modules/@llmservice" "$stage/packages"
for folder in "${folders[@]}"; do
  case $folder in
    node_modules/@llmservice/* | operator | runtime | crds | native) ;;
    node_modules/* | crds/node_modules/* | native/node_modules/* | "$workspace"/node_modules/*)
      target=$stage/$folder
      [[ $folder == node_modules/* ]] || target=$stage/packages/$folder
      mkdir -p "$target"
      # Packages nested in this one are listed, and copied, by themselves.
      find "$folder" -mindepth 1 -maxdepth 1 ! -name node_modules -exec cp -a -t "$target" {} +
      ;;
    *) die "a dependency lies outside node_modules: $folder" ;;
  esac
done

packages=(crds "$workspace")
[[ $workspace == operator ]] || packages+=(native)
for package in "${packages[@]}"; do
  ln -s "../../$package" "$stage/node_modules/@llmservice/$package"
  mkdir -p "$stage/packages/$package"
  cp -a "$package/package.json" "$package/dist" "$stage/packages/$package"
  find "$stage/packages/$package/dist" \( -name '*.d.ts' -o -name '*.map' -o -name '*.test.*' -o -name '*.tsbuildinfo' \) -delete
done
find crds -maxdepth 1 \( -name '*.yaml' -o -name '*.schema.json' \) -exec cp -t "$stage/packages/crds" {} +
if [[ -d $stage/packages/native ]]; then
  mkdir -p "$stage/packages/native/build/Release"
  cp native/build/Release/llmservice_native.node "$stage/packages/native/build/Release"
fi
echo "$stage"
