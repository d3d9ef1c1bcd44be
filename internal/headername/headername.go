package headername

import "strings"

// claims are the claims in small letters; one that ends in * is the beginning of a name.
var claims = strings.Fields(`
	x-keystile* keystile-* grpc-metadata-x-keystile* grpc-metadata-keystile-* proxy

	remote-* x-remote-* x-webauth-* x-auth-request-* x-authenticated-* x-authentik-* x-pomerium-* x-vouch-*
	x-consumer-* x-credential-identifier x-anonymous-consumer x-goog-authenticated-user-* x-goog-iap-* x-amzn-oidc-*
	x-ms-client-principal* cf-access-* tailscale-user-* client-cert* x-client-cert* ssl-client-* x-ssl-client-* x-arr-*

	forwarded x-forwarded* x-forward-for x-real-ip client-ip x-client-ip true-client-ip x-cluster-client-ip
	x-originating-ip x-proxyuser-ip proxy-client-ip wl-proxy-* ali-cdn-real-ip cdn-src-ip cdn-real-ip cf-connecting-*
	cf-pseudo-ipv4 fastly-client-ip fly-client-ip x-azure-clientip x-azure-socketip x-appengine-* x-vercel-* x-envoy-*
	x-scheme x-url-scheme front-end-https

	x-original-* x-rewrite-* x-override-* x-http-method* x-method-override x-http-host* x-http-path*
	x-http-destinationurl x-host x-script-name x-accel-* x-sendfile-*
`)

// claim is one of them, without its *.
type claim struct {
	text string
	open bool // names may go on behind it
}

// bySlot holds the claims that share a slot: few do, because each header of each call is looked up.
var bySlot = func() (by [512][]claim) {
	for _, text := range claims {
		text, open := strings.CutSuffix(text, "*")
		by[slot(text)] = append(by[slot(text)], claim{text, open})
	}
	return by
}()

// slot tells names apart by their first letter, or by the one behind x-.
func slot(name string) int {
	if len(name) > 2 && name[0]|0x20 == 'x' && fold[name[1]] == '-' {
		return 256 + int(fold[name[2]])
	}
	return int(fold[name[0]])
}

// fold makes of a letter the small one, and of everything that is no letter and no digit a -.
var fold = func() (to [256]byte) {
	for c := range to {
		switch {
		case 'A' <= c && c <= 'Z':
			to[c] = byte(c) + 'a' - 'A'
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			to[c] = byte(c)
		default:
			to[c] = '-'
		}
	}
	return to
}()

// Refused reports whether a header of a client must not reach a service: it is a claim, or could be taken for one.
func Refused(name string) bool { return !Plain(name) || Claims(name) }

// Plain reports whether a name holds nothing but letters, digits and -.
func Plain(name string) bool {
	for _, c := range []byte(name) {
		if fold[c] == '-' && c != '-' {
			return false
		}
	}
	return true
}

// Claims reports whether a name is a claim, whichever characters stand in it for -.
func Claims(name string) bool {
	if name == "" {
		return false
	}
	for _, c := range bySlot[slot(name)] {
		if c.covers(name) {
			return true
		}
	}
	return false
}

// Own reports whether a name may be read as that of a header which Keystile alone writes to the services behind it:
// Keystile-Caller and its like, whichever characters stand in it for -.
func Own(name string) bool { return own.covers(name) }

var own = claim{"keystile-", true}

func (c *claim) covers(name string) bool {
	if len(name) < len(c.text) || len(name) > len(c.text) && !c.open {
		return false
	}
	for i, want := range []byte(c.text) {
		if fold[name[i]] != want {
			return false
		}
	}
	return true
}
