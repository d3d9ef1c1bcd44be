package ui

import (
	"regexp"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/pattern"
)

// labels holds what forms call the fields that errors name.
var labels = map[string]string{
	"address": "Address", "app": "Application", "auth_in": "Place of the API key",
	"auth_name": "Header or parameter of the API key", "auth_secret": "Credential", "auth_type": "Authentication",
	"backchannel_logout_uri": "Back-channel logout URI", "brand": "Brand", "client_id": "Application",
	"color": "Color", "confirm": "Type its name", "days": "Days", "description": "Description",
	"document_url": "URL of the document", "label": "Label", "member": "Name", "domain": "Domains",
	"domains": "Domains", "dpop": "Bound tokens (DPoP)", "email": "Email", "held": "What operators decide", "host": "Host",
	"id_token_alg": "ID tokens are signed with", "legacy_success_code": "Success at connect.php", "logo": "Logo",
	"mfa": "Second factor", "month": "Month", "name": "Name", "nickname": "Nickname",
	"overlap_seconds": "Seconds for which the old one stays valid", "owner": "Owner", "password": "Password",
	"policy": "Policy", "q": "Begins with", "reason": "Reason", "redirect_uri": "Redirect URIs",
	"redirect_uris": "Redirect URIs", "role": "Role", "status": "Status", "timeout": "Seconds that a call may take",
	"tier": "Tier", "until": "Until", "user": "User", "upstream_url": "Upstream URL", "username": "Username",
	"webhook_secret": "Webhook secret", "webhook_url": "Webhook URL",
}

// problem is a text of an error with values in it.
type problem struct {
	has     *regexp.Regexp
	chinese string
	weight  int // the more it says itself, the sooner it is tried
}

// filled finds the values in a text.
var filled = pattern.Lazy(`%[sdq]`)

// problemsOf makes those of the texts that have values in them.
func problemsOf(texts Texts) (all []problem) {
	for english, chinese := range texts {
		said := filled().Split(english, -1)
		if len(said) < 2 || len(strings.Join(said, "")) < 6 {
			continue
		}
		var has strings.Builder
		has.WriteString("^")
		for i, v := range append(filled().FindAllString(english, -1), "") {
			has.WriteString(regexp.QuoteMeta(said[i]))
			has.WriteString(map[string]string{"%s": "(?s:(.+?))", "%d": "([0-9,]+)", "%q": `("(?:[^"\\]|\\.)*")`}[v])
		}
		has.WriteString("$")
		all = append(all, problem{regexp.MustCompile(has.String()), chinese, len(strings.Join(said, ""))})
	}
	slices.SortFunc(all, func(a, b problem) int {
		if a.weight != b.weight {
			return b.weight - a.weight
		}
		return strings.Compare(a.chinese, b.chinese)
	})
	return all
}

// Says returns what is wrong in the reader's language, and calls the field that it is about as its form does.
func (v *View) Says(msg string) string {
	if text, ok := v.says(msg, 0); ok {
		return text
	}
	var all []string
	for part := range strings.SplitSeq(msg, "; ") { // several errors
		text, _ := v.says(part, 0)
		all = append(all, text)
	}
	return strings.Join(all, map[bool]string{true: "；", false: "; "}[v.Lang == page.Chinese])
}

// says translates one error, which may hold another, and reports whether it is known.
func (v *View) says(msg string, depth int) (string, bool) {
	if text := v.T(msg); text != msg {
		return text, true
	}
	if v.Lang != page.Chinese || depth > 3 {
		return v.labelled(msg), false
	}
	for _, p := range v.problems {
		m := p.has.FindStringSubmatch(msg)
		if m == nil {
			continue
		}
		i := 0
		return filled().ReplaceAllStringFunc(p.chinese, func(string) string {
			i++
			value := m[i]
			if label, ok := labels[value]; ok {
				return v.T(label)
			}
			if strings.Contains(value, " ") && !strings.HasPrefix(value, `"`) {
				value, _ = v.says(value, depth+1)
			}
			return value
		}), true
	}
	return v.labelled(msg), false
}

// labelled calls the field in front of an error as its form does.
func (v *View) labelled(msg string) string {
	word, _, _ := strings.Cut(msg, " ")
	name := strings.TrimRight(word, ":,")
	if label, ok := labels[name]; ok {
		return v.T(label) + strings.TrimPrefix(msg, name)
	}
	return msg
}

// Typing reports whether a form that was refused had a field.
func (v *View) Typing(name string) bool { return v.typed.Has(name) }

// Problems returns what says in Chinese what is wrong, with translations as a console has them.
func Problems(texts Texts) func(msg string) string {
	v := &View{Lang: page.Chinese, texts: []Texts{texts}, problems: problemsOf(texts)}
	return v.Says
}
