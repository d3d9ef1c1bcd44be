package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

const completion = "completion"

var shells = []string{"bash", "zsh", "fish"}

// WithCompletion returns the table with one more command, which writes scripts by which a
// shell completes all of its commands and flags.
func (t Table) WithCompletion() Table {
	t.Commands = append(slices.Clone(t.Commands), Command{
		Name: completion, Words: []string{"SHELL"}, Summary: "Write a script that completes commands and flags: bash, zsh or fish",
		Examples: []string{
			"source <(" + t.Program + " completion bash)",
			t.Program + " completion zsh > \"${fpath[1]}/_" + t.Program + "\"",
			t.Program + " completion fish > ~/.config/fish/completions/" + t.Program + ".fish",
		},
	})
	all := t
	t.Commands[len(t.Commands)-1].Run = func(_ context.Context, call Call) error { return all.complete(call) }
	return t
}

func (t Table) complete(call Call) error {
	scripts := map[string]func(io.Writer){"bash": t.bash, "zsh": t.zsh, "fish": t.fish}
	script, ok := scripts[call.Words[0]]
	if !ok {
		return Usage("%q is none of %s", call.Words[0], strings.Join(shells, ", "))
	}
	script(call.Stdout)
	return nil
}

// next returns what may stand behind the words of each beginning of a command: for "" all
// first words, for "app" create and others, for a whole command its flags. The beginnings
// come in the order of the table.
func (t Table) next() (begins []string, words map[string][]string) {
	words = map[string][]string{}
	add := func(begin, word string) {
		if _, there := words[begin]; !there {
			begins = append(begins, begin)
		}
		if !slices.Contains(words[begin], word) {
			words[begin] = append(words[begin], word)
		}
	}
	for _, c := range t.Commands {
		names := strings.Fields(c.Name)
		for i, word := range names {
			add(strings.Join(names[:i], " "), word)
		}
		for _, f := range c.Flags {
			add(c.Name, "--"+f.Name)
		}
		add(c.Name, "--help")
		if c.Name == completion {
			words[c.Name] = append(words[c.Name], shells...)
		}
	}
	return begins, words
}

// bash completes words of the table where it has some, else files.
func (t Table) bash(w io.Writer) {
	t.cases(w, "", `_%[1]s() {
  local cur=${COMP_WORDS[COMP_CWORD]} word begin= options
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $begin${begin:+ }$word in
`, `) begin+=${begin:+ }$word ;;
    esac
  done
  case $begin in
`)
	fmt.Fprintf(w, `  esac
  COMPREPLY=($(compgen -W "$options" -- "$cur"))
}
complete -o default -F _%[1]s %[1]s
`, t.Program)
}

// zsh does the same with the same words.
func (t Table) zsh(w io.Writer) {
	t.cases(w, "#compdef "+t.Program+"\n", `_%[1]s() {
  local word begin options
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$begin${begin:+ }$word" in
`, `) begin+="${begin:+ }$word" ;;
    esac
  done
  case "$begin" in
`)
	fmt.Fprintf(w, `  esac
  compadd -- ${=options}
  _files
}
if [ "$funcstack[1]" = "_%[1]s" ]; then _%[1]s "$@"; else compdef _%[1]s %[1]s; fi
`, t.Program)
}

// cases writes a script's head, the beginnings it follows, and what stands behind each.
func (t Table) cases(w io.Writer, first, head, middle string) {
	begins, words := t.next()
	fmt.Fprintf(w, first+head, t.Program)
	var known []string
	for _, b := range begins {
		if b != "" {
			known = append(known, `"`+b+`"`)
		}
	}
	fmt.Fprint(w, "      "+strings.Join(known, "|")+middle)
	for _, b := range begins {
		fmt.Fprintf(w, "    %q) options=%q ;;\n", b, strings.Join(words[b], " "))
	}
}

// fish is told about each word by itself, with its help.
func (t Table) fish(w io.Writer) {
	fmt.Fprintf(w, `function __%[1]s_typed
  set -l words (commandline -opc)
  string join ' ' -- $words[2..-1]
end
function __%[1]s_at
  test "$(__%[1]s_typed)" = "$argv"
end
function __%[1]s_in
  string match -q -- "$argv *" "$(__%[1]s_typed) "
end
`, t.Program)
	seen := map[string]bool{}
	for _, c := range t.Commands {
		first, second, two := strings.Cut(c.Name, " ")
		switch {
		case !two:
			t.fishLine(w, "", "-a "+first, c.Summary)
		case !seen[first]:
			t.fishLine(w, "", "-a "+first, first+" commands")
		}
		seen[first] = true
		if two {
			t.fishLine(w, first, "-a "+second, c.Summary)
		}
		if c.Name == completion {
			t.fishLine(w, c.Name, "-a '"+strings.Join(shells, " ")+"'", "")
		}
		for _, f := range c.Flags {
			option := "-l " + f.Name
			if f.Value != "" {
				option += " -r"
			}
			t.fishLine(w, c.Name, option, f.Help)
		}
	}
}

// fishLine offers words right behind a beginning, and flags anywhere behind a command.
func (t Table) fishLine(w io.Writer, behind, what, help string) {
	where := "at"
	if strings.HasPrefix(what, "-l ") {
		where = "in"
	}
	help = strings.ReplaceAll(strings.ReplaceAll(help, `\`, `\\`), `'`, `\'`)
	fmt.Fprintf(w, "complete -c %s -n '__%s_%s %s' %s -d '%s'\n", t.Program, t.Program, where, behind, what, help)
}
