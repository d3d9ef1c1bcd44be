package applications

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const guide = "../../../../examples/APPLICATIONS.md"

// section holds what the page says of one product.
type section struct {
	product  string
	commands [][]string // words of the lines of keystile, without its name
	settings string     // of the product
}

var (
	fence   = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```")
	command = regexp.MustCompile(`(?m)^(?:app=\$\()?keystile (.+)$`)
	word    = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
)

// read returns what the page begins with, and its sections for products.
func read(t *testing.T) (everywhere section, products []section) {
	t.Helper()
	var all []section
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n## ") {
		s := section{product: strings.TrimPrefix(strings.SplitN(strings.TrimSpace(part), "\n", 2)[0], "# ")}
		for _, block := range fence.FindAllStringSubmatch(part, -1) {
			if block[1] != "sh" {
				s.settings += block[2]
				continue
			}
			s.commands = append(s.commands, commands(block[2])...)
		}
		all = append(all, s)
	}
	if len(all) != 7 {
		t.Fatalf("the page has %d parts: want what is for all, and six products", len(all))
	}
	return all[0], all[1:]
}

// commands returns the words of the lines of a script that call keystile.
func commands(script string) (all [][]string) {
	// A list of rules takes several lines, as does what ends with a backslash.
	script = strings.NewReplacer("\\\n", " ", "[\n", "[", ",\n", ",", `"$(jq -r .client_id <<<"$app")"`, "CLIENT_ID",
		`) && echo "$app"`, "").Replace(script)
	for _, m := range command.FindAllStringSubmatch(script, -1) {
		line, _, _ := strings.Cut(m[1], " <<<")
		var words []string
		for _, w := range word.FindAllString(line, -1) {
			words = append(words, strings.ReplaceAll(w, "'", ""))
		}
		all = append(all, words)
	}
	return all
}

// flags returns the values of a command's flags by their names.
func flags(words []string) map[string][]string {
	all := map[string][]string{}
	for i, w := range words {
		name, is := strings.CutPrefix(w, "--")
		if !is {
			continue
		}
		value := ""
		if i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			value = words[i+1]
		}
		all[name] = append(all[name], value)
	}
	return all
}
