#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The way from the checkout to commits and mails, and back. All but the first and
# the last tests work on a copy of the checkout and on a tree of its own, and add
# a patch of their own to the series there.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. check/lib.sh

work=$(mktemp -d "$CACHE/check series.XXXXXX")
trap 'rm -rf "$work"' EXIT

copy=$work/copy
export TREE=$work/tree MAILS=$work/mails
export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@example.org
export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=tester@example.org

# A configuration that would change diffs, files and hashes if it were not ignored.
# The cache stays where it is, though.
export PERF_UEVENT_CACHE=$CACHE HOME=$work/home
mkdir "$HOME" "$copy"
cat >"$HOME/.gitconfig" <<-END
	[core]
		autocrlf = true
		abbrev = 5
		quotePath = true
		excludesFile = ~/ignore
	[diff]
		noprefix = true
		context = 1
		algorithm = patience
		renames = copies
	[format]
		signOff = true
		numbered = false
	[commit]
		gpgSign = true
	[am]
		keepcr = true
END
echo '*.c' >"$HOME/ignore"

tree() { GIT_CONFIG_GLOBAL=/dev/null git -C "$TREE" "$@"; }
checkout() { GIT_CONFIG_GLOBAL=/dev/null git -C "$copy" "$@"; }

# remember, changes, restore: the copy as it is; what has changed since; back to it.
remember() { checkout add -A -f && checkout commit -q --allow-empty -m state; }
changes() { checkout add -A -f && checkout diff --cached --no-renames --name-status; }
restore() { checkout reset -q --hard && checkout clean -fdxq; }
same_as_before() { diff <(:) <(changes); }

# expect TEXT...: the lines that changes should print, with a blank for its tab.
expect() { diff <(printf '%s\n' "$@" | sort) <(changes | tr '\t' ' ' | sort); }

# refused TEXT COMMAND...: fails, and says TEXT while it does so.
refused() {
	local text=$1 said

	shift
	if said=$("$@" 2>&1); then echo "it was not refused: $said"; return 1; fi
	grep -qF -- "$text" <<<"$said" || { echo "\"$text\" is not in: $said"; return 1; }
}

save() { "$copy/workshop/save"; }
compose() { "$copy/workshop/compose" -n; }

# The fixture: a patch that adds a script and a link and edits a file.
slug=add-a-file-and-edit-one
dir=samples/check_series
added=$dir/run
edited=Documentation/index.rst
fixture() {
	mkdir -p "$TREE/$dir" &&
	printf '#!/bin/sh\necho one\n' >"$TREE/$added" && chmod +x "$TREE/$added" &&
	ln -s run "$TREE/$dir/link" &&
	sed -i '1i.. one' "$TREE/$edited" &&
	tree add "$dir" "$edited" && tree commit -q -m 'check: Add a file and edit one' -m 'The body.'
}

set_up() {
	tar --exclude=./.git -c . | tar -x -C "$copy" && checkout init -q && remember &&
		"$copy/workshop/tree" && composed=$(compose)
}

round_trip() { save && same_as_before && [ "$(tree rev-parse uevent)" = "$(compose)" ]; }
status_is_clean() { diff <(:) <(tree status --porcelain --ignored); }
sees_new_files() {
	local said

	touch "$TREE/kernel/new.c"
	said=$(tree status --porcelain)
	rm "$TREE/kernel/new.c"
	[ "$said" = "?? kernel/new.c" ]
}

save_new_commit() {
	fixture && save && expect "A $added" "A $dir/link" "A $edited.patch" "A series/$slug.txt" "M series/order" &&
		[ -x "$copy/$added" ] && [ "$(readlink "$copy/$dir/link")" = run ] &&
		[ "$(tail -n 1 "$copy/series/order")" = $slug ] &&
		diff - "$copy/series/$slug.txt" <<-END && diff <(printf '%s\n' "--- a/$edited" "+++ b/$edited") <(head -n 2 "$copy/$edited.patch")
			check: Add a file and edit one

			The body.
			---
			$edited
			$dir/link
			$added
		END
}
save_edit_of_new() { echo 'echo two' >>"$TREE/$added" && save && expect "M $added" && cmp "$TREE/$added" "$copy/$added"; }
save_edit_of_old() { sed -i '1a.. two' "$TREE/$edited" && save && expect "M $edited.patch" && grep -qx '+.. two' "$copy/$edited.patch"; }
saved_is_committed() { diff <(:) <(tree status --porcelain) && tree show "HEAD:$added" | grep -q two; }
save_mode() { chmod -x "$TREE/$added" && save && expect "M $added" && [ ! -x "$copy/$added" ]; }
save_mode_of_old() { chmod +x "$TREE/$edited" && save && expect "M $edited.patch" && tree ls-tree HEAD "$edited" | grep -q ^100755; }
save_deletion() {
	rm "$TREE/Documentation/Kconfig" && tree commit -q --amend -a --no-edit && save &&
		expect "A Documentation/Kconfig.patch" "M series/$slug.txt" && grep -qx '+++ /dev/null' "$copy/Documentation/Kconfig.patch"
}
save_message() {
	tree commit -q --amend -m 'check: Add a file and edit one' -m 'Another body.' && save &&
		expect "M series/$slug.txt" && grep -qx 'Another body.' "$copy/series/$slug.txt"
}
save_subject() {
	tree commit -q --amend -m 'check: Do both' && save &&
		expect "D series/$slug.txt" "A series/do-both.txt" "M series/order"
}
save_subject_back() { tree reset -q --hard "$first" && save && same_as_before; }
save_split() {
	echo '.. three' >>"$TREE/$edited" && echo 'echo three' >>"$TREE/$added" && tree commit -q -a -m 'check: Edit both again' && save &&
		expect "D $edited.patch" "A $edited.$slug.patch" "A $edited.edit-both-again.patch" \
			"A $added.edit-both-again.patch" "A series/edit-both-again.txt" "M series/order" &&
		compose && "$copy/workshop/claims"
}
split_edit() { echo '.. four' >>"$TREE/$edited" && refused "so whose are they?" save && same_as_before; }
unclaimed_edit() { echo >>"$TREE/CREDITS" && refused "CREDITS has edits that are not committed" save && same_as_before; }
untracked_file() { touch "$TREE/kernel/new.c" && refused "kernel/new.c has edits" save && same_as_before; }
save_fixup() { tree commit -q --allow-empty -m 'fixup! check: Edit both again' && refused "yet to be squashed" save && same_as_before; }
save_removed() { tree reset -q --hard "$1" && save && expect "${@:2}"; }

tree_keeps_edits() { echo >>"$TREE/CREDITS" && refused "holds work that is not in the checkout" "$copy/workshop/tree"; }
tree_keeps_commits() { tree commit -q --allow-empty -m more && refused "holds work that is not in the checkout" "$copy/workshop/tree"; }
tree_keeps_others() { mkdir -p "$work/other" && touch "$work/other/file" && TREE=$work/other refused "no tree that make tree has made" "$copy/workshop/tree"; }
checkout_moved_on() {
	sed -i '1s/$/ more/' "$(printf '%s\n' "$copy"/series/*.txt | grep -v cover.txt | head -n 1)" && remember &&
		refused "has changed since" save && same_as_before
}
tree_renews() { "$copy/workshop/tree" && [ "$(tree rev-parse HEAD)" = "$(compose)" ]; }

# Each makes one mistake in the copy, which claims and compose have to see.
an_edit=$(series_paths | while IFS= read -r path; do [ ! -e "$path.patch" ] || echo "$path.patch"; done | head -n 1)
claimed_by=$(cd series && grep -lx -- "${an_edit%.patch}" ./*.txt | head -n 1)
mistake() {
	local text=$1 result

	(cd "$copy" && eval "$2")
	refused "$text" "$copy/workshop/claims" && refused "$text" compose
	result=$?
	restore
	return $result
}
broken_patch() {
	local result

	sed -i '/^ ./s/$/ broken/' "$copy/$an_edit"
	refused "$an_edit does not apply" compose
	result=$?
	restore
	return $result
}
# A context that is two lines off by content must not be taken for the right one.
no_fuzz() {
	local result

	awk '/^@@/ && !n++ { print; getline; print " not what stands there" ; next } { print }' "$an_edit" >"$copy/$an_edit"
	refused "does not apply" compose
	result=$?
	restore
	return $result
}
restored_composes() { [ "$(compose)" = "$composed" ]; }

mails_are_made() {
	workshop/mails && diff <(slugs | wc -l) <(find "$MAILS" -name '*.patch' | wc -l) &&
		grep -qF "$(head -n 1 series/cover.txt)" "$MAILS/0000-cover-letter.eml"
}
mails_apply() {
	tree checkout -q --detach base && tree am -q "$MAILS"/*.patch &&
		diff <(tree log --format='%T %B' base..) <(tree log --format='%T %B' "base..$(workshop/compose -n)")
}
mails_unsigned() { ! grep -l '^Signed-off-by:' "$MAILS"/*; }

# checkpatch MAIL...: what checkpatch says that no exception allows.
allowed=$(sed -nE 's/^([^#].*[^ ]) +# .+/\1/p' series/checkpatch-exceptions)
checkpatch_all() { (cd "$TREE" && GIT_DIR=/nonexistent perl scripts/checkpatch.pl --strict --terse --show-types "$@") | grep -E '(ERROR|WARNING|CHECK):'; }
checkpatch() { ! checkpatch_all "$@" | grep -vE -f <(echo "$allowed"); }
checkpatch_sees() {
	local mail

	mail=$(grep -lE '^\+\+\+ b/.*\.c$' "$MAILS"/*.patch | head -n 1)
	awk '{ print } /^\+\+\+ / { in_c = /\.c$/ } in_c && /^\+[^+]/ && !n++ { print "+  if(x)y();" }' "$mail" >"$work/bad.patch"
	! checkpatch "$work/bad.patch"
}
exceptions_needed() {
	local said pattern unused=0

	[ "$(grep -c '^[^#]' series/checkpatch-exceptions)" = "$(wc -l <<<"$allowed")" ] || { echo "an exception has no reason"; return 1; }
	said=$(checkpatch_all "$MAILS"/*.patch)
	while IFS= read -r pattern; do
		grep -qE -- "$pattern" <<<"$said" || { echo "nothing matches $pattern"; unused=1; }
	done <<<"$allowed"
	return $unused
}

check "series: every path belongs to one patch" workshop/claims

set_up >"$work/log" 2>&1 || { cat "$work/log"; echo "not ok series: make tree"; exit 1; }
check "series: a new tree is clean" status_is_clean
check "series: a new file shows in git status of the tree" sees_new_files
check "series: compose, tree, save: no diff" round_trip

check "series: a new commit is saved as files, edits and message" save_new_commit && remember
check "series: an edit of a new file is saved" save_edit_of_new && remember
check "series: an edit of the kernel's file is saved" save_edit_of_old && remember
check "series: what was saved is committed in the tree" saved_is_committed
check "series: a change of mode of a new file is saved" save_mode && remember
check "series: a change of mode of the kernel's file is saved" save_mode_of_old && remember
check "series: another message is saved" save_message && remember
first=$(tree rev-parse HEAD)
check "series: the removal of the kernel's file is saved" save_deletion && remember
check "series: taking back that removal is saved" save_removed "$first" "D Documentation/Kconfig.patch" "M series/$slug.txt" && remember
check "series: another subject is another patch" save_subject
check "series: the subject from before gives the same patch as before" save_subject_back
check "series: a file that two patches edit is split" save_split && remember
check "series: an edit of such a file has to be committed" split_edit; tree reset -q --hard
check "series: an edit of a file that no patch touches has to be committed" unclaimed_edit; tree reset -q --hard
check "series: a new file has to be committed" untracked_file; tree clean -fdq
check "series: a fixup has to be squashed" save_fixup; tree reset -q --hard HEAD~
check "series: a removed commit is removed" save_removed HEAD~ "A $edited.patch" "D $edited.$slug.patch" "D $edited.edit-both-again.patch" \
	"D $added.edit-both-again.patch" "D series/edit-both-again.txt" "M series/order" && remember

check "series: make tree leaves edits alone" tree_keeps_edits; tree reset -q --hard
check "series: make tree leaves commits alone" tree_keeps_commits; tree reset -q --hard HEAD~
check "series: make tree leaves other folders alone" tree_keeps_others
check "series: save does not overwrite a checkout that has moved on" checkout_moved_on
check "series: make tree renews a tree that is saved" tree_renews

checkout reset -q --hard "$(checkout rev-list --max-parents=0 HEAD)"
check "series: without all this the series is what it was" restored_composes
check "series: a file that no patch claims is seen" mistake "no patch claims kernel/stray.c" "mkdir -p kernel; touch kernel/stray.c"
check "series: a path that is claimed twice is seen" mistake "${an_edit%.patch} is claimed twice" \
	"echo ${an_edit%.patch} >>\$(printf '%s\n' series/*.txt | grep -v -e cover.txt -e ${claimed_by#./} | head -n 1)"
check "series: a path that is missing is seen" mistake "claims ${an_edit%.patch}, but there is neither" "rm $an_edit"
check "series: a patch to another file is seen" mistake "$an_edit has to edit ${an_edit%.patch} and nothing else" "sed -i '1,2s,\([ab]/\).*,\1CREDITS,' $an_edit"
check "series: a patch to a second file is seen" mistake "$an_edit has to edit ${an_edit%.patch} and nothing else" \
	"printf '%s\n' '--- a/CREDITS' '+++ b/CREDITS' '@@ -0,0 +1 @@' '+x' >>$an_edit"
check "series: a patch that is cut short is seen" mistake "$an_edit is no proper patch" "sed -i '\$d' $an_edit"
check "series: a message outside of the order is seen" mistake "series/stray.txt is not in series/order" "touch series/stray.txt"
check "series: a patch that does not apply stops everything" broken_patch
check "series: no fuzz" no_fuzz

check "mails: made, one for each patch, and a cover letter" mails_are_made
check "mails: git am gives the same commits" mails_apply
check "mails: not signed off" mails_unsigned
for mail in "$MAILS"/*.patch; do
	check "mails: checkpatch --strict: $(basename "$mail")" checkpatch "$mail"
done
check "mails: checkpatch sees a mistake" checkpatch_sees
check "mails: the exceptions from checkpatch are needed" exceptions_needed
done_checking
