package restcall

import "strings"

// writeCookies writes the arguments that are cookies into one header. Cookies of the client are
// never among them.
//
// They are sent as they were given, because most were taken from a cookie, except for characters that no cookie
// can hold, which are percent-encoded. They are added to the cookies of the credential, and can replace none.
func (p *Plan) writeCookies(r *Request, values arguments, c *complaints) {
	if len(p.cookies) == 0 {
		return
	}
	var text []byte
	in := p.cookieNames.naming(p, c)
	in.others = cookiesOf(r.credential)
	add := func(param *param, name string) bool {
		if !headerName(name) || name == param.Name && in.others.other(name, holder(param.arg)) != byNobody {
			c.add("argument %q must not set the cookie %q", param.Arg, clip(name, 64))
			return false
		}
		if name != param.Name && !in.member(param.arg, name) {
			return false
		}
		if len(text) > 0 {
			text = append(text, "; "...)
		}
		text = append(append(text, name...), '=')
		return true
	}
	for i := range p.cookies {
		param := &p.cookies[i]
		if !values.given(param.arg, p) {
			continue
		}
		v := valueOf(values[param.arg], param.JSON)
		for n, one := range v.texts {
			name := param.Name
			if v.names != nil && param.Explode {
				name = v.names[n]
			}
			switch {
			case !plain(one):
				c.add("argument %q must have no control characters: it is sent as a cookie", param.Arg)
			case !param.Explode && !v.single:
				if add(param, name) {
					text = v.join(text, ",", false, escapeCookie)
				}
			case add(param, name):
				text = escapeCookie(text, one)
			}
			if !param.Explode || len(text) > maxHeader || len(*c) > 0 {
				break // all of it is written, or it is refused
			}
		}
	}
	if len(text) > maxHeader {
		c.add("the arguments make cookies of more than %d bytes: shorten them", maxHeader)
	}
	if len(text) > 0 {
		r.header["Cookie"] = []string{string(text)}
	}
}

// cookiesOf returns the cookies that a credential sets, which no argument may change; nil: none.
func cookiesOf(c Credential) *holders {
	if c.Header != "Cookie" {
		return nil
	}
	held := &holders{}
	for pair := range strings.SplitSeq(c.Text, ";") {
		name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
		held.hold(name, byCredential)
	}
	return held
}
