package page

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Lang is a language of the pages: its BCP 47 tag.
type Lang string

// The languages there are.
const (
	English Lang = "en"
	Chinese Lang = "zh-CN"
)

// LangOf chooses the language of a page: the first of ui_locales (OpenID Connect Core
// 3.1.2.1: space-separated, most wanted first) that there is, else what Accept-Language
// wants most, else English.
func LangOf(r *http.Request, uiLocales string) Lang {
	for tag := range strings.FieldsSeq(uiLocales) {
		if l := speaks(tag); l != "" {
			return l
		}
	}
	return accepted(strings.Join(r.Header.Values("Accept-Language"), ","))
}

// speaks returns the language that serves a tag, "" if none does. Every region and script
// of Chinese is served by zh-CN: nearer than English.
func speaks(tag string) Lang {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	switch primary {
	case "en", "*":
		return English
	case "zh":
		return Chinese
	}
	return ""
}

// accepted reads an Accept-Language header (RFC 9110 12.5.4).
func accepted(header string) Lang {
	best, weight := English, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, param, _ := strings.Cut(part, ";")
		q := 1.0
		if value, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(param)), "q="); ok {
			q, _ = strconv.ParseFloat(value, 64)
		}
		if l := speaks(strings.TrimSpace(tag)); l != "" && q > weight && q <= 1 {
			best, weight = l, q
		}
	}
	return best
}

// T is a text in this language, with its %s filled in.
func (l Lang) T(text string, args ...string) string {
	text, _ = l.translate(text)
	if len(args) == 0 {
		return text
	}
	filled := make([]any, len(args))
	for i, arg := range args {
		filled[i] = arg
	}
	return fmt.Sprintf(text, filled...)
}

// Again says when to try again, in this language: rounded up, so that it is not too soon.
func (l Lang) Again(wait time.Duration) string {
	up := func(unit time.Duration) string { return strconv.Itoa(int((wait + unit - 1) / unit)) }
	switch {
	case wait <= time.Second:
		return l.T("Try again in a second.")
	case wait <= 2*time.Minute:
		return l.T("Try again in %s seconds.", up(time.Second))
	case wait <= 2*time.Hour:
		return l.T("Try again in %s minutes.", up(time.Minute))
	}
	return l.T("Try again in %s hours.", up(time.Hour))
}

// Of is the language T answers a text in: English for one that was never translated.
func (l Lang) Of(text string) Lang {
	_, in := l.translate(text)
	return in
}

func (l Lang) translate(text string) (string, Lang) {
	if l == Chinese {
		for _, texts := range chinese {
			if zh, ok := texts[text]; ok {
				return zh, Chinese
			}
		}
	}
	return text, English
}
