package protocol

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// headings are the numbers that can be cited.
type headings struct {
	sections, rules, decisions map[string]bool // rules: "4.8 6" for rule 6 of section 4.8
}

var (
	sectionHeading  = regexp.MustCompile(`(?m)^(?:## (\d+)\. |### (\d+\.\d+) )`)
	rule            = regexp.MustCompile(`(?m)^(\d+)\. `)
	decisionHeading = regexp.MustCompile(`(?m)^### (\d+)\. `)
)

func headingsOf(protocol, decisions string) headings {
	h := headings{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	at := sectionHeading.FindAllStringSubmatchIndex(protocol, -1)
	for i, m := range at {
		number := strings.Trim(protocol[m[0]:m[1]], "# .")
		h.sections[number] = true
		end := len(protocol)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		for _, r := range rule.FindAllStringSubmatch(protocol[m[1]:end], -1) {
			h.rules[number+" "+r[1]] = true
		}
	}
	for _, m := range decisionHeading.FindAllStringSubmatch(decisions, -1) {
		h.decisions[m[1]] = true
	}
	return h
}

// finding is something wrong in a file.
type finding struct {
	file string
	line int
	why  string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.why) }

// paragraphs is a text in which lines that belong together are one, so that a citation can be
// found that is broken between them.
type paragraphs struct {
	text   string
	starts []int // where each line of the file begins in text
}

var (
	comment  = regexp.MustCompile(`^\s*(?://+|#+|\*|<!--)\s?`)
	listItem = regexp.MustCompile(`^\s*(?:\d+\.|[-*|])\s`)
)

func joined(file, text string) paragraphs {
	prose := strings.HasSuffix(file, ".md") || strings.HasSuffix(file, ".html")
	var p paragraphs
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		mark := comment.FindString(line)
		switch {
		case prose && strings.TrimSpace(line) != "" && mark == "" && !listItem.MatchString(line):
			line = " " + strings.TrimSpace(line)
		case !prose && mark != "" && !listItem.MatchString(line[len(mark):]):
			line = " " + strings.TrimSpace(line[len(mark):])
		default:
			line = "\n" + line
		}
		p.starts = append(p.starts, b.Len())
		b.WriteString(line)
	}
	p.text = b.String()
	return p
}

func (p paragraphs) line(at int) int {
	return sort.Search(len(p.starts), func(i int) bool { return p.starts[i] > at })
}

const (
	number = `[1-9][0-9]*(?:\.[0-9]+)*`
	list   = number + `(?:(?:, | and |, and |-)` + number + `)*`
)

var (
	// protocol: "4.8" is how the keys of the configuration say it.
	toProtocol = regexp.MustCompile(`\b[Pp]rotocol(?:: "| )(` + list + `)(?:, rules? (\d+))?`)
	toDecision = regexp.MustCompile(`\b[Dd]ecision(s?) (` + list + `)`)
	items      = regexp.MustCompile(number)
)

// check holds the citations of a text against the headings there are.
func (h headings) check(file, text string) (found []finding, cited int) {
	p := joined(file, text)
	for _, m := range toProtocol.FindAllStringSubmatchIndex(p.text, -1) {
		numbers := items.FindAllString(p.text[m[2]:m[3]], -1)
		if len(numbers[0]) > 4 || !strings.Contains(numbers[0], ".") && len(numbers[0]) > 2 {
			continue // the revision or port of some other protocol
		}
		for _, n := range numbers {
			cited++
			if !h.sections[n] {
				found = append(found, finding{file, p.line(m[0]), "protocol.md has no section " + n})
			}
		}
		if last := numbers[len(numbers)-1]; m[4] >= 0 && !h.rules[last+" "+p.text[m[4]:m[5]]] {
			found = append(found, finding{file, p.line(m[0]), fmt.Sprintf("protocol %s has no rule %s", last,
				p.text[m[4]:m[5]])})
		}
	}
	for _, m := range toDecision.FindAllStringSubmatchIndex(p.text, -1) {
		numbers := items.FindAllString(p.text[m[4]:m[5]], -1)
		for _, n := range numbers {
			cited++
			if !h.decisions[n] {
				found = append(found, finding{file, p.line(m[0]), "decisions.md has no entry " + n})
			}
		}
		if several := m[2] < m[3]; several != (len(numbers) > 1) {
			found = append(found, finding{file, p.line(m[0]), "write decision 54, and decisions 54 and 56"})
		}
	}
	return found, cited
}

// old are the forms in which documents outside of the repository were cited.
var old = []struct {
	form *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`\b[Ss]pec(?:s|ification(?:s|'s)?)?,? (?:sections? )?\(?[1-9](?:\.[0-9]{1,2})?(?:[^\w.]|\.\W|$)`), "write protocol 4.8"},
	{regexp.MustCompile(`\b[Ss]pecification\b[^.;()'\n]{0,30}\((?:section )?[1-9](?:\.[0-9]{1,2})?\)`), "write protocol 4.8"},
	{regexp.MustCompile(`\b[Ss]ections? [1-9](?:\.[0-9]{1,2})?(?:[^\w.]|\.\W|$)`), "say of what this is a section, or write protocol 4.8"},
	{regexp.MustCompile(`\b[1-9]\.[0-9]{1,2}'s (?:table|list|rows?|rules?)\b`), "write of protocol 4.8"},
	{regexp.MustCompile(`\b[Ee]ntr(?:y|ies)[ -][1-9][0-9]*\b`), "write decision 56"},
	{regexp.MustCompile(`\bDECISIONS\b`), "write decision 56"},
	{regexp.MustCompile(`\bDESIGN(?:\.md\b|,? [0-9])`), "say it here: that page is not in the repository"},
	{regexp.MustCompile(`\bspecification\.md\b`), "write protocol 4.8"},
	{regexp.MustCompile(`\bnotes/[a-z-]+`), "say it here: that page is not in the repository"},
}

// standards are words that make a section or a specification one that is not ours to check.
var standards = []string{"OpenAPI", "Swagger", "MCP", "JSON-RPC", "OAuth", "OpenID", "OIDC", "Core", "Logout",
	"Discovery",
	"YAML", "JSON", "WCAG", "UTS", "Fetch", "Unicode", "Webhooks", "WebSocket", "RFC", "Schema", "HTML", "CSP", "PKCS"}

var (
	before = regexp.MustCompile(`([\w-]+),? (?:[0-9.]+,? )?$`)   // RFC 6749, section 5.2
	behind = regexp.MustCompile(`^[\w ]? ?of (?:the )?([\w-]+)`) // section 5.2 of RFC 6749
)

// outdated finds citations in one of the old forms.
func outdated(file, text string) (found []finding) {
	p := joined(file, text)
	for _, o := range old {
		for _, m := range o.form.FindAllStringIndex(p.text, -1) {
			if w := before.FindStringSubmatch(p.text[max(0, m[0]-40):m[0]]); w != nil && slices.Contains(standards, w[1]) {
				continue
			}
			if w := behind.FindStringSubmatch(p.text[m[1]-1:]); w != nil && slices.Contains(standards, w[1]) {
				continue
			}
			found = append(found, finding{file, p.line(m[0]), fmt.Sprintf("%q: %s", strings.TrimSpace(p.text[m[0]:m[1]]),
				o.why)})
		}
	}
	return found
}
