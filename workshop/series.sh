# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The series as files in a checkout, and as commits in the cache's repository. To
# be sourced by the scripts that turn the one into the other; see lib.sh for the
# rest.

# shellcheck source=lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

# What stands at the top of a checkout and does not belong into a kernel tree.
own=(.git .gitignore .ci README.md Makefile COPYING series vm workshop check)

# Nothing of what git does here depends on the user's configuration or on being
# called from a hook.
user_git() { env -u GIT_CONFIG_GLOBAL -u GIT_CONFIG_NOSYSTEM git "$@"; }
# shellcheck disable=SC2046 # one word each
unset $(git rev-parse --local-env-vars) GIT_EXTERNAL_DIFF GIT_DIFF_OPTS
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_LITERAL_PATHSPECS=1
# Nor do the order of names and the wording of errors.
export LC_ALL=C

linux_git() { git --git-dir="$REPO" "$@"; }

# lock: one run at a time changes the cache. Scripts called from here share the lock.
lock() {
	[ "${PERF_UEVENT_LOCK-}" != "$CACHE" ] || return 0
	mkdir -p "$CACHE"
	exec 9>"$CACHE/lock"
	flock -n 9 || { say "waiting for another run that uses $CACHE"; flock 9; }
	export PERF_UEVENT_LOCK=$CACHE
	# What runs that were killed have left.
	rm -rf "$CACHE"/tmp.*

	[ -e "$REPO/info/attributes" ] || make_repo
}

# Objects in use are known to trees elsewhere only, so nothing may be collected.
make_repo() {
	linux_git init -q --bare "$REPO"
	linux_git config gc.auto 0
	linux_git config core.compression 1
	linux_git config core.autocrlf false
	linux_git config core.quotePath false
	linux_git config core.fsync none
	linux_git config checkout.workers 0
	linux_git config core.trustctime false
	# A bare repository does not look at the kernel's own .gitattributes; these
	# decide which function's name stands in a hunk's header.
	printf '%s\n' '*.[ch] diff=cpp' '*.rs diff=rust' '*.dts diff=dts' '*.dts[io] diff=dts' >"$REPO/info/attributes"
}

# Commits are by a fixed person at a fixed time, so that the same series gives the
# same commits.
IDENT='perf-uevent <perf-uevent@localhost> 1767225600 +0000'

# Kept in a tree that make tree has made: the commit that it was last the same as.
SAVED=refs/perf-uevent/saved

# tree_unsaved: whether the tree can be thrown away; says what is in it if not.
tree_unsaved() {
	local saved

	saved=$(git -C "$TREE" rev-parse -q --verify "$SAVED") || { echo "make tree has not made it"; return 1; }
	[ "$(git -C "$TREE" symbolic-ref -q HEAD)" = refs/heads/uevent ] || { echo "it is not on the branch uevent"; return 1; }
	[ "$(git -C "$TREE" rev-parse HEAD)" = "$saved" ] || { echo "commits that were not saved"; return 1; }
	[ -z "$(git -C "$TREE" status --porcelain)" ] || { echo "edits that are not committed"; return 1; }
}

# scratch: makes $tmp, a folder that is gone when the script ends.
scratch() {
	tmp=$(mktemp -d "$CACHE/tmp.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
}

# stored SLUG PATH: the file of the checkout that holds what the patch does to a
# path; nothing if there is none, several lines if that is ambiguous.
stored() {
	if [ -e "$2.$1.patch" ]; then
		echo "$2.$1.patch"
	else
		! [ -e "$2" ] && ! [ -L "$2" ] || echo "$2"
		! [ -e "$2.patch" ] || echo "$2.patch"
	fi
}

# in_tree_files: all files of the checkout that are meant for a kernel tree.
in_tree_files() {
	local skip=() name

	for name in "${own[@]}"; do skip+=(-path "./$name" -o); done
	find . \( "${skip[@]}" -false \) -prune -o ! -type d -printf '%P\n' | sort
}

# Edits are stored without hashes and dates, so that they change only when the
# code does.
# shellcheck disable=SC2034 # used where this is sourced
diff_options=(--no-color --no-ext-diff --no-textconv --no-renames --unified=3 --inter-hunk-context=0
	--diff-algorithm=histogram --indent-heuristic --src-prefix=a/ --dst-prefix=b/)

# claims: complains of all that is wrong with the lists in series/, and fails then.
claims() (
	cd "$TOP" || exit
	declare -A owner
	wrong=0
	complain() { say "series: $*"; wrong=1; }

	while IFS= read -r slug; do complain "$slug is listed twice in series/order"; done < <(slugs | sort | uniq -d)
	for file in series/*.txt; do
		slug=${file#series/} slug=${slug%.txt}
		[ "$slug" = cover ] || [ ! -e "$file" ] || slugs | grep -qxF -- "$slug" ||
			complain "$file is not in series/order"
	done

	for slug in $(slugs); do
		[ -e "series/$slug.txt" ] || { complain "there is no series/$slug.txt"; continue; }
		grep -qx -- --- "series/$slug.txt" || complain "series/$slug.txt has no line '---' before its paths"
		[ -n "$(paths "$slug")" ] || complain "$slug carries no path"
		while IFS= read -r path; do
			mapfile -t file < <(stored "$slug" "$path")
			case ${#file[@]} in
			0) complain "$slug claims $path, but there is neither $path nor $path.patch"; continue ;;
			2) complain "$slug claims $path, but there are both $path and $path.patch"; continue ;;
			esac
			[ -z "${owner[${file[0]}]-}" ] || {
				complain "$path is claimed twice: by ${owner[${file[0]}]} and by $slug;" \
					"an edit that several patches need is split as $path.$slug.patch"
				continue
			}
			owner[${file[0]}]=$slug
			[[ ${file[0]} != *.patch ]] || touches_only "${file[0]}" "$path" || complain "$problem"
		done < <(paths "$slug")
	done

	while IFS= read -r file; do
		[ -n "${owner[$file]-}" ] || complain "no patch claims $file: list it in a series/<slug>.txt, or remove it"
	done < <(in_tree_files)
	exit $wrong
)

# touches_only PATCH PATH: sets $problem when the patch does not edit just that path.
touches_only() {
	local touched

	touched=$(git apply --numstat -- "$1" 2>&1) || { problem="$1 is no proper patch: $touched"; return 1; }
	touched=$(cut -f3 <<<"$touched")
	[ "$touched" = "$2" ] || { problem="$1 has to edit $2 and nothing else; it edits: ${touched//$'\n'/, }"; return 1; }
}

# compose DIR: the commits for the series in the checkout DIR on top of the base.
# Prints the last one. A patch that does not apply stops everything.
#
# The index holds the files that the series touches and no others, and git
# fast-import puts them into the trees: 96000 entries would take a second a patch.
compose() (
	TOP=$1
	cd "$TOP" || exit
	export GIT_INDEX_FILE=$tmp/index
	rm -f "$GIT_INDEX_FILE"
	mapfile -t all < <(series_paths)
	[ ${#all[@]} -gt 0 ] || { linux_git rev-parse "$BASE^{commit}"; exit; }
	linux_git ls-tree -r "$BASE" -- "${all[@]}" | linux_git update-index --index-info || exit

	: >"$tmp/commits"
	parent=$(linux_git rev-parse "$BASE^{commit}") || exit
	for slug in $(slugs); do
		mapfile -t carried < <(paths "$slug")
		before=$(entries "${carried[@]}")
		apply_patch "$slug" || exit
		after=$(entries "${carried[@]}")
		[ "$before" != "$after" ] || die "the patch $slug changes nothing"

		message "$slug" >"$tmp/message"
		{
			printf 'commit refs/composed\nauthor %s\ncommitter %s\n' "$IDENT" "$IDENT"
			printf 'data %d\n' "$(wc -c <"$tmp/message")"
			cat "$tmp/message"
			[ -z "$parent" ] || printf 'from %s\n' "$parent"
			printf 'D %s\n' "${carried[@]}"
			printf '%s\n' "$after"
		} >>"$tmp/commits"
		parent=''
	done
	# Loose objects that are there already are not written again, those of a pack are.
	linux_git -c fastimport.unpackLimit=1000000 fast-import --quiet --force <"$tmp/commits" || die "the commits could not be made"
	linux_git rev-parse refs/composed
)

# entries PATH...: what the index has of them, in the words of git fast-import.
entries() { linux_git ls-files --stage -- "$@" | sed -E 's/^([0-7]+) ([0-9a-f]+) 0\t/M \1 \2 /'; }

# apply_patch SLUG: does to the index what the patch does.
apply_patch() {
	local whole=() edits=() path file said known

	while IFS= read -r path; do
		file=$(stored "$1" "$path")
		if [ "$file" = "$path" ]; then whole+=("$path"); else edits+=("$file"); fi
	done < <(paths "$1")

	apply() { linux_git apply --cached --whitespace=nowarn "$@" 2>&1; }
	if [ ${#edits[@]} -gt 0 ] && ! apply -- "${edits[@]}" >/dev/null; then
		for file in "${edits[@]}"; do
			said=$(apply --check -- "$file") ||
				die "$file does not apply, so the patch $1 cannot be made" "${said//$'\n'/$'\n'       }"
		done
		die "the edits of $1 do not apply together"
	fi

	[ ${#whole[@]} -gt 0 ] || return 0
	known=$(linux_git ls-files -- "${whole[@]}" | paste -sd' ')
	[ -z "$known" ] || die "$1 brings files that are there already: $known" "an edit stands as <path>.patch"
	printf '%s\0' "${whole[@]}" | GIT_WORK_TREE=. linux_git update-index --add -z --stdin ||
		die "the new files of $1 could not be read"
}
