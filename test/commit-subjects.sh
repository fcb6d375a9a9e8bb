#!/usr/bin/env bash
# Checks the subjects of commits: at most 72 characters, beginning with an upper-case verb in the imperative, without a period
# at the end. Only commits made after `first` are judged, merges never; a checkout without that history passes.
# usage: commit-subjects.sh [COMMIT]   (default: HEAD)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

max_characters=72
# The last commit that was made before the rule.
first=7010538f8029fbc22242b7e52b61d641c4a59662
# First words that are no imperative: articles, pronouns, and "Adding", "Added". Verbs that end like these are excused.
other_words='^(A|An|The|This|These|It|We|I|Now|Some|Minor|.*ing|.*ed)$'
excused='^(Bring|String|Ping|Ring|Swing|Sing|Feed|Need|Seed|Speed|Shed|Embed|Exceed|Proceed|Wed)$'

# In the C locale awk and bash would count bytes.
export LC_ALL=C.UTF-8

if ! git cat-file -e "$first^{commit}" 2>/dev/null; then
  echo "no commit $first here: no subjects to check"
  exit 0
fi

failed=0
refuse() {
  echo "$1 $2: $3" >&2
  failed=1
}

checked=0
# A branch that is merged later may hold commits that are older than the rule.
since=$(git show -s --format=%cI "$first")
while read -r hash subject; do
  word=${subject%%[ ,]*}
  ((${#subject} <= max_characters)) || refuse "$hash" "$subject" "has ${#subject} characters, more than $max_characters"
  [[ $subject != *. ]] || refuse "$hash" "$subject" 'ends with a period'
  if [[ ! $word =~ ^[A-Z][a-z-]+$ ]] || [[ $word =~ $other_words && ! $word =~ $excused ]]; then
    refuse "$hash" "$subject" 'does not begin with an upper-case verb in the imperative'
  fi
  checked=$((checked + 1))
done < <(git log --no-merges --since-as-filter="$since" --format='%h %s' "$first..${1:-HEAD}")

((failed)) || echo "$checked subjects checked"
exit "$failed"
