package notice

import (
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage/event"
)

// noticeTexts are the subject and the first line of an email by its kind, in English. The %s
// is the service.
var noticeTexts = map[string][2]string{
	event.NoticeSignIn: {"New sign-in at %s",
		"Somebody signed in as you at %s in a browser that you had not signed in with before."},
	event.NoticeSignInMethod: {"A way to sign in was changed at %s",
		"A way to sign in to your account at %s was added or removed."},
	event.NoticeAccount: {"Your account at %s was changed", "Your account at %s was changed."},
	event.NoticeSecret: {"A secret of your application at %s",
		"A secret of one of your applications at %s was rotated or shown."},
	event.NoticeApp: {"Your application at %s was changed", "One of your applications at %s was changed."},
	event.NoticeDeleted: {"Your account at %s is deleted",
		"Your account at %s was deleted on the page of the account, by somebody who was signed in as you."},
	event.NoticeRole: {"Your rights at %s were changed", "Your rights at %s were changed."},
	event.NoticeTools: {"Tools that you offer at %s have changed",
		"The upstream of one of your capabilities at %s has changed its tools. Agents go on with those that you have " +
			"accepted."},
}

// Text returns the text of a notice, in one language or in several below each other. The subject
// holds nothing that anybody but the operator can choose.
func (n *Notices) Text(langs []page.Lang, what event.Notice, last bool) (subject, text string) {
	texts, ok := noticeTexts[what.Kind]
	if !ok {
		texts = noticeTexts[event.NoticeAccount]
	}
	var subjects, bodies []string
	for _, l := range langs {
		subjects = append(subjects, l.T(texts[0], n.Site))
		bodies = append(bodies, l.T(texts[1], n.Site)+"\n\n"+n.noticeFacts(l, what)+"\n"+n.noticeAdvice(l, what, last))
	}
	return strings.Join(subjects, " / "), strings.Join(bodies, "\n----\n\n")
}

func (n *Notices) noticeFacts(l page.Lang, what event.Notice) string {
	if what.At.IsZero() {
		what.At = time.Now()
	}
	place := l.T("an unknown address")
	if what.IP.IsValid() {
		place = what.IP.Unmap().WithZone("").String()
	}
	facts := [][2]string{
		{"What", noticeDetail(l, what.Detail)}, {"Application", oneLine(what.App)},
		{"Capability", oneLine(what.Capability)}, {"When", web.MomentOf(l, what.At).Human},
		{"From", place}, {"Browser", web.AgentText(l, what.Agent)},
	}
	var out strings.Builder
	if !what.IP.IsValid() && what.Agent == "" { // of a command: the detail says whose it was
		facts = facts[:4]
	}
	for _, f := range facts {
		if f[1] != "" {
			out.WriteString(l.T("%s: %s", l.T(f[0]), f[1]) + "\n")
		}
	}
	return out.String()
}

// noticeDetail is a detail in a language. One such as "added: WeChat" is translated part by part.
func noticeDetail(l page.Lang, detail string) string {
	detail = oneLine(detail)
	what, which, two := strings.Cut(detail, ": ")
	if two && l.Of(what) == l {
		return l.T("%s: %s", l.T(what), noticeDetail(l, which))
	}
	return l.T(detail)
}

func (n *Notices) noticeAdvice(l page.Lang, what event.Notice, last bool) (text string) {
	switch what.Kind {
	case event.NoticeDeleted:
		return l.T("If it was you, you need do nothing. If it was not, tell the operator at once.") + "\n"
	case event.NoticeTools:
		text = l.T("What has changed is held. Look at the difference at %s, and accept what you want.", n.Base+
			"/console/capabilities/"+url.PathEscape(what.Capability)+"/pins") + "\n"
	default:
		text = l.T("If it was you, you need do nothing. If it was not, sign in at %s, sign out everywhere, set a new "+
			"password, and tell the operator.", n.Base+web.AccountPath) + "\n"
	}
	if last {
		text += "\n" + l.T("So much was done within an hour that you will get no more emails about it until the hour is "+
			"over.") + "\n"
	}
	return text
}

const maxFact = 200 // runes

// oneLine returns an untrusted text as one line of an email.
func oneLine(text string) string {
	runes := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))))
	if len(runes) > maxFact {
		runes = append(runes[:maxFact], '…')
	}
	return string(runes)
}
