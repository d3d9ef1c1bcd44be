package client

import "testing"

func TestClientIsSentBackWhereItSaidAndToAnyPortOfLoopback(t *testing.T) {
	app := Description{RedirectURIs: []string{
		"http://localhost/callback", "http://127.0.0.1:33418/", "http://[::1]/cb?x=1", "https://agent.example/callback",
		"cursor://anysphere.cursor-mcp/oauth/callback",
	}}
	for uri, good := range map[string]bool{
		"http://localhost/callback": true, "http://localhost:43127/callback": true, "http://localhost:43127/callback/": false,
		"http://localhost:43127/callback?x": false, "http://127.0.0.1:43127/callback": false, "http://127.0.0.1/": true,
		"http://127.0.0.1:1/":   true,
		"http://[::1]:9/cb?x=1": true, "http://[::1]:9/cb": false, "http://localhost:0/callback": false,
		"http://localhost:/callback":             false,
		"http://localhost@evil.example/callback": false, "http://localhost.evil.example/callback": false,
		"https://localhost/callback":     false,
		"https://agent.example/callback": true, "https://agent.example:443/callback": false,
		"https://agent.example:8443/callback": false,
		"https://AGENT.example/callback":      false, "https://agent.example/callback#": false,
		"https://agent.example/callback?":              false,
		"cursor://anysphere.cursor-mcp/oauth/callback": true, "cursor://anysphere.cursor-mcp/oauth/callback/": false,
		"CURSOR://anysphere.cursor-mcp/oauth/callback": false,
		"javascript:alert(1)":                          false, "data:text/html,x": false, "": false,
	} {
		if err := app.AllowsRedirect(uri); (err == nil) != good {
			t.Errorf("AllowsRedirect(%q) = %v, want it allowed: %t", uri, err, good)
		}
	}
}

func TestRedirectsForbiddenToABrowser(t *testing.T) {
	for _, uri := range []string{
		"javascript:alert(1)", "javascript://x/%0aalert(1)", "JavaScript:/x", "data:text/html,x", "data://x/y", "vbscript:/x",
		"file:///etc/passwd", "file://host/x",
		"blob:/x", "about:/x", "view-source:/x", "ftp://x/y", "mailto:/x", "intent://x/y", "urn:/x", "cursor:x",
		"cursor:///x", "://x", ":/x", "1x://y", "x\ty://z",
		"cursor://a b", "cursor://a#b", "http://example.com/", "http://10.0.0.1/", "https://user@example.com/",
		"https://EXAMPLE.com\\@evil/", "https://1.2.3/", "ws://x/", "https:/x", "http:/localhost/x",
	} {
		if err := CheckRedirect(uri); err == nil {
			t.Errorf("CheckRedirect(%q) lets it pass", uri)
		}
	}
}

func TestHostIsWrittenInOneWay(t *testing.T) {
	for host, good := range map[string]bool{
		"claude.ai": true, "agents.example:8443": true, "localhost": true, "xn--fiqs8s.example": true, "127.0.0.1": true,
		"[::1]:1": true,
		"":        false, "Claude.ai": false, "claude.ai:443": false, "claude.ai/": false, "claude.ai/x": false,
		"claude.ai?x": false, "claude.ai#x": false, "https://claude.ai": false,
		"u@claude.ai": false, "a b": false, "智能.example": false, "127.1": false, "claude.ai:": false, "claude.ai.": false,
		"*.claude.ai": false,
	} {
		if err := CheckHost(host); (err == nil) != good {
			t.Errorf("CheckHost(%q) = %v, want it good: %t", host, err, good)
		}
	}
}

// RFC 8252 7.1. No list of the schemes that an operating system hands over to programs is complete.
func TestPrivateUseSchemeIsADomainInReverseOrOfAnAgentThatIsKnown(t *testing.T) {
	for uri, good := range map[string]bool{
		"cursor://anysphere.cursor-mcp/oauth/callback": true, "vscode://vscode.mcp/callback": true,
		"vscode-insiders://x/cb": true, "claude://oauth/callback": true,
		"warp://mcp/oauth2callback": true, "com.example.agent:/oauth2redirect": true, "com.raycast:/oauth": true,
		"com.googleusercontent.apps.123-a1b2:/cb": true, "io.github.1me.x://cb": true,
		"ms-officecmd:/x": false, "ms-settings:/x": false, "steam://run/1": false, "slack://x/y": false,
		"agent://x/cb": false, "x:/y": false, "cursor2://x/y": false,
		"x-apple.systempreferences:/x": false, ".com://x": false, "com.://x": false, "com..x://y": false, "com.-x://y": false,
		"com.x-://y": false, "1.x://y": false, "c.x://y": false,
		"com+x.y://z": false, "Com.example:/x": false, "com.example+x:/y": false, "com.example:x": false,
		"com.example:///x": false,
	} {
		if _, ok := PrivateScheme(uri); ok != good {
			t.Errorf("PrivateScheme(%q) = %t, want %t", uri, ok, good)
		}
		if err := CheckRedirect(uri); (err == nil) != good {
			t.Errorf("CheckRedirect(%q) = %v, want it good: %t", uri, err, good)
		}
		old := Description{RedirectURIs: []string{uri}} // as an earlier version has stored it
		if err := old.AllowsRedirect(uri); (err == nil) != good {
			t.Errorf("AllowsRedirect(%q) of one that is stored = %v, want it allowed: %t", uri, err, good)
		}
	}
}
