package command

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A key of the configuration that no room hears of is a lie: each must change something.
func TestKeyReachesItsRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a service for each key")
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Seen", fmt.Sprintf("%s bearer %t", r.URL.Path, r.Header.Get("Authorization") != ""))
		w.Header().Set("X-Told", fmt.Sprintf("client %t statement %t", r.Header.Get("X-Keystile-Client") != "",
			strings.Count(r.Header.Get("Keystile-Caller"), ".") == 2))
		if strings.HasPrefix(r.URL.Path, "/hang") {
			<-r.Context().Done()
		}
		w.WriteHeader(204)
	}))
	t.Cleanup(upstream.Close)
	for _, c := range changes {
		t.Run(c.args, func(t *testing.T) {
			args := strings.ReplaceAll(c.args, "UPSTREAM", upstream.URL)
			c.check(t, start(t, t.TempDir(), strings.Fields(args)...))
		})
	}
}

var changes = []struct {
	args  string
	check func(*testing.T, *service)
}{
	{"--lifetimes-access 1h", func(t *testing.T, s *service) {
		if g := redeem(t, s, authorize(t, s), 200); g.ExpiresIn != 3600 {
			t.Errorf("expires_in = %d", g.ExpiresIn)
		}
	}},
	{"--lifetimes-code 1ns", func(t *testing.T, s *service) { redeem(t, s, authorize(t, s), 400) }},
	{"--lifetimes-refresh 1ns", func(t *testing.T, s *service) {
		refresh(t, s, redeem(t, s, authorize(t, s), 200).RefreshToken, 400)
	}},
	{"--reuse-leeway-code 1ns", func(t *testing.T, s *service) {
		code := authorize(t, s)
		g := redeem(t, s, code, 200)
		redeem(t, s, code, 400)
		wantUserInfo(t, s, g.AccessToken, 401)
	}},
	{"--reuse-leeway-refresh 1ns", func(t *testing.T, s *service) {
		g := redeem(t, s, authorize(t, s), 200)
		next := refresh(t, s, g.RefreshToken, 200)
		refresh(t, s, g.RefreshToken, 400)
		wantUserInfo(t, s, next.AccessToken, 401)
	}},
	{"--agents-refresh-window 0", func(t *testing.T, s *service) {
		if status, _ := agentsRefresh(t, s); status != 400 {
			t.Errorf("an agent's replaced token = %d, want 400", status)
		}
	}},
	{"--agents-refresh-window 30s", func(t *testing.T, s *service) {
		if status, same := agentsRefresh(t, s); status != 200 || !same {
			t.Errorf("an agent's replaced token = %d, the same successor: %v", status, same)
		}
	}},
	{"--demo true", func(t *testing.T, s *service) { // by default the retries above are benign
		code := authorize(t, s)
		g := redeem(t, s, code, 200)
		redeem(t, s, code, 400)
		next := refresh(t, s, g.RefreshToken, 200)
		refresh(t, s, g.RefreshToken, 400)
		wantUserInfo(t, s, next.AccessToken, 200)
	}},
	{"--lifetimes-session-max 200h", func(t *testing.T, s *service) {
		if c := cookieOf(t, s); c.MaxAge != 720000 {
			t.Errorf("the session's cookie lasts %d s", c.MaxAge)
		}
	}},
	{"--lifetimes-session-idle 1ns", func(t *testing.T, s *service) {
		if _, page := get(t, http.DefaultClient, s.base+"/oauth/signin", "Cookie", cookieOf(t, s).String()); !strings.Contains(page, `name="password"`) {
			t.Error("a session that was idle too long is still one")
		}
	}},
	{"--login-lock-failures 1", func(t *testing.T, s *service) {
		wantSignIn(t, s, "203.0.113.1", 401)
		wantSignIn(t, s, "203.0.113.2", 429) // no proxy is trusted: it is the same peer
	}},
	{"--login-lock-failures 1 --trusted-proxies 127.0.0.1", func(t *testing.T, s *service) {
		wantSignIn(t, s, "203.0.113.1", 401)
		wantSignIn(t, s, "203.0.113.2", 401)
	}},
	{"--login-lock-failures 1 --login-lock-duration 1ns", func(t *testing.T, s *service) {
		wantSignIn(t, s, "203.0.113.1", 401)
		wantSignIn(t, s, "203.0.113.1", 401)
	}},
	{"--login-lock-failures 2 --login-lock-window 1ns", func(t *testing.T, s *service) {
		for range 3 {
			wantSignIn(t, s, "203.0.113.1", 401)
		}
	}},
	{"--signin-qr false", func(t *testing.T, s *service) {
		if _, page := get(t, http.DefaultClient, s.base+"/oauth/signin"); strings.Contains(page, "Scan with") {
			t.Error("the page offers a code")
		}
		wantStatus(t, s, "/oauth/signin/qr", "", 404)
	}},
	{"--signing-alg EdDSA", func(t *testing.T, s *service) {
		header, _, _ := strings.Cut(redeem(t, s, authorize(t, s), 200).AccessToken, ".")
		if text, _ := base64.RawURLEncoding.DecodeString(header); !strings.Contains(string(text), `"EdDSA"`) {
			t.Errorf("the access token's header is %s", text)
		}
	}},
	{"--id-token-algs HS256,ES256", func(t *testing.T, s *service) {
		var d struct {
			Algs []string `json:"id_token_signing_alg_values_supported"`
		}
		_, body := get(t, http.DefaultClient, s.base+"/.well-known/openid-configuration")
		if err := json.Unmarshal([]byte(body), &d); err != nil || fmt.Sprint(d.Algs) != "[HS256 ES256]" {
			t.Errorf("discovery lists %q", d.Algs)
		}
	}},
	{"--limits-per-ip 3", func(t *testing.T, s *service) {
		for range 3 {
			wantStatus(t, s, "/oauth/jwks", "", 200)
		}
		wantStatus(t, s, "/oauth/jwks", "", 429)
		for range 4 { // a page that waits for a phone has a rate of its own
			wantStatus(t, s, "/oauth/signin/qr/poll?id=x", "", 404)
			wantStatus(t, s, "/oauth/signin/qr.js", "", 200)
		}
		wantStatus(t, s, "/oauth/signin/qr", "", 429)
		resp, body := post(t, s, "/api/mcp", nil)
		if resp.StatusCode != 429 || !strings.Contains(body, `"jsonrpc"`) || !strings.Contains(body, `"errcode":429`) { // decision 42
			t.Errorf("the bus over the rate = %d %s", resp.StatusCode, body)
		}
	}},
	{"--admin-listen 127.0.0.1:0 --limits-shadow address,free --limits-per-ip 3 --login-lock-failures 2",
		func(t *testing.T, s *service) {
			for range 9 {
				wantStatus(t, s, "/oauth/jwks", "", 200)
			}
			token := ownToken(t, s)
			for range 70 {
				wantStatus(t, s, "/api/v1/quota", token, 200)
			}
			_, text := get(t, http.DefaultClient, "http://"+s.out.Find(t, s.ended, `Admin listener +(\S+)`)+"/metrics")
			for _, limit := range []string{"address", "free"} {
				if line := `keystile_requests_shadowed_total{limit="` + limit + `"} `; !strings.Contains(text, line) || strings.Contains(text, line+"0\n") {
					t.Errorf("the metrics do not count what passed over the rate of %s", limit)
				}
			}
			wantSignIn(t, s, "203.0.113.1", 401)
			wantSignIn(t, s, "203.0.113.1", 401)
			wantSignIn(t, s, "203.0.113.1", 429) // a lock is no rate
		}},
	{"--gateway-products svc=UPSTREAM --gateway-free-repeats 1", func(t *testing.T, s *service) { wantCharged(t, s, 3) }},
	{"--gateway-products svc=UPSTREAM --gateway-free-repeats 0", func(t *testing.T, s *service) { wantCharged(t, s, 4) }},
	{"--gateway-products svc=UPSTREAM,search", func(t *testing.T, s *service) {
		token := ownToken(t, s)
		wantStatus(t, s, "/svc/x", "", 401)
		wantStatus(t, s, "/svc/x", token, 204)
		resp, _ := get(t, http.DefaultClient, s.base+"/svc/x", "Origin", "https://any.example")
		if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("CORS of a proxied service: %v", resp.Header)
		}
		wantStatus(t, s, "/search/x", token, 404)
		wantStatus(t, s, "/api/v1/verify?product=search", token, 200)
		wantStatus(t, s, "/api/v1/verify?product=svc", token, 200)
		wantStatus(t, s, "/api/v1/verify?product=other", token, 400)
	}},
	{`--gateway-products [{"name":"svc","upstream":"UPSTREAM","pace":1}]`, func(t *testing.T, s *service) {
		token := ownToken(t, s)
		wantStatus(t, s, "/svc/x", token, 204)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // its turn is in a second
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/svc/x", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			t.Errorf("the second of two at once = %d", resp.StatusCode)
		}
	}},
	{`--gateway-products [{"name":"svc","upstream":"UPSTREAM","prefix":"/v1/a"},{"name":"svc","upstream":"UPSTREAM/deep","prefix":"/v1/a/b","strip_prefix":false,"identity":"bearer"}]`, func(t *testing.T, s *service) {
		token := ownToken(t, s)
		for path, want := range map[string]string{"/v1/a/x": "/x bearer false", "/v1/a/b/x": "/deep/v1/a/b/x bearer true",
			"/v1/a/bx": "/bx bearer false"} {
			if resp, _ := get(t, http.DefaultClient, s.base+path, "Authorization",
				"Bearer "+token); resp.Header.Get("X-Seen") != want {
				t.Errorf("%s reached the service as %q, want %q", path, resp.Header.Get("X-Seen"), want)
			}
		}
	}},
	{`--gateway-products [{"name":"svc","upstream":"UPSTREAM","identity":"signed","identity_subject":"openid","identity_jti":"off"},{"name":"none","upstream":"UPSTREAM","identity":"none"},{"name":"old","upstream":"UPSTREAM"}]`, func(t *testing.T, s *service) {
		token := ownToken(t, s)
		for path, want := range map[string]string{"/svc/x": "client false statement true",
			"/none/x": "client false statement false", "/old/x": "client true statement false"} {
			if resp, _ := get(t, http.DefaultClient, s.base+path, "Authorization",
				"Bearer "+token); resp.Header.Get("X-Told") != want {
				t.Errorf("of a call of %s the service is told %q, want %q", path, resp.Header.Get("X-Told"), want)
			}
		}
	}},
	{`--gateway-products [{"name":"svc","upstream":"UPSTREAM/hang","timeout":"50ms"}]`, func(t *testing.T, s *service) {
		s.expected = "path=/svc/x"
		wantStatus(t, s, "/svc/x", ownToken(t, s), 504)
	}},
	{"--billing-overage-fen 500", func(t *testing.T, s *service) {
		if _, plans := get(t, http.DefaultClient, s.base+"/api/v1/billing/plans", "Authorization", "Bearer "+ownToken(t, s)); strings.Count(plans, `"overage_fen":500`) != 3 {
			t.Errorf("plans are %s", plans)
		}
	}},
	{"--legacy-error-status mapped",
		func(t *testing.T, s *service) { wantStatus(t, s, "/connect.php?act=login", "", 400) }},
	{"--upstreams-allow-private 10.0.0.0/8,localhost:9000", func(t *testing.T, s *service) {
		for upstream, private := range map[string]bool{"http://10.1.2.3": false, "http://localhost:9000": false,
			"http://localhost:9001": true} {
			a := registered(t, s, `{"member":"m","upstream_url":"`+upstream+`","tools_static":[{"name":"a"}]}`, 200)
			if strings.Contains(a, "is a private address") != private {
				t.Errorf("%s is answered %s", upstream, a)
			}
		}
	}},
	{"--openapi-resolve-refs true", func(t *testing.T, s *service) {
		registered(t, s, `{"member":"m","upstream_url":"https://api.example.com","openapi":{"openapi":"3.0.3","paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"properties":{"p":{"$ref":"#/d"}}}}}}}}},"d":{"type":"object","properties":{"deep":{}}}}}`, 200)
		if _, shown := get(t, http.DefaultClient, s.base+"/api/console/capabilities/m", "Cookie", cookieOf(t, s).String()); !strings.Contains(shown, `"deep"`) {
			t.Errorf("shown is %s", shown)
		}
	}},
	{"--cors-origins https://console.example.com", func(t *testing.T, s *service) {
		const at = "/api/console/capabilities"
		for origin, listed := range map[string]bool{"https://console.example.com": true, "https://evil.example.com": false} {
			resp, _ := get(t, http.DefaultClient, s.base+at, "Origin", origin)
			if h := resp.Header; (h.Get("Access-Control-Allow-Credentials") == "true") != listed ||
				(h.Get("Access-Control-Allow-Origin") == origin) != listed {
				t.Errorf("a page of %s gets %v", origin, h)
			}
			want := 403
			if listed {
				want = 200
			}
			registered(t, s, `{"member":"m","upstream_url":"https://api.example.com"}`, want, "Origin", origin)
		}
	}},
	{"--mcp-registration off", func(t *testing.T, s *service) {
		wantStatus(t, s, "/oauth/register", "", 404)
		wantStatus(t, s, "/register", "", 404)
	}},
	{"--mcp-registration capped", func(t *testing.T, s *service) {
		wantStatus(t, s, "/oauth/register", "", 405)
		wantStatus(t, s, "/register", "", 405)
	}},
	{"--mcp-clients off", func(t *testing.T, s *service) {
		wantAgent(t, s, "https://claude.ai/client.json", "applications that are not registered here are not admitted")
		if _, body := get(t, http.DefaultClient, s.base+"/.well-known/oauth-authorization-server"); strings.Contains(body,
			"client_id_metadata_document") {
			t.Errorf("the metadata is %s", body)
		}
	}},
	{"--mcp-clients listed --mcp-client-hosts agents.example.com", func(t *testing.T, s *service) {
		wantAgent(t, s, "https://claude.ai/client.json", "not on the list of this service")
	}},
	// with base_url of a loopback host all are open
	{"--mcp-allow-client-hosts localhost:1", func(t *testing.T, s *service) {
		wantAgent(t, s, "https://localhost:1/client.json", "could not be looked up")
		wantAgent(t, s, "https://localhost:2/client.json", "not given to anybody")
	}},
	{"--log-format json", func(t *testing.T, s *service) {
		if s.stop(); !json.Valid([]byte(strings.Split(s.log.String(), "\n")[0])) {
			t.Errorf("the log is %s", s.log)
		}
	}},
}

// Keys that say where the service is, or what one start alone does not show.
var triedElsewhere = map[string]string{
	"connectors.wx.id":              "TestConfiguredProvidersAreOffered",
	"connectors.wx.secret":          "TestConfiguredProvidersAreOffered",
	"connectors.qq.id":              "TestConfiguredProvidersAreOffered",
	"connectors.qq.secret":          "TestConfiguredProvidersAreOffered",
	"connectors.douyin.id":          "TestConfiguredProvidersAreOffered",
	"connectors.douyin.secret":      "TestConfiguredProvidersAreOffered",
	"connectors.alipay.id":          "TestConfiguredProvidersAreOffered",
	"connectors.alipay.private_key": "TestConfiguredProvidersAreOffered",
	"connectors.alipay.public_key":  "TestConfiguredProvidersAreOffered",
	"connectors.feishu.id":          "TestConfiguredProvidersAreOffered",
	"connectors.feishu.secret":      "TestConfiguredProvidersAreOffered",
	"connectors.feishu.lark":        "TestConfiguredProvidersAreOffered",
	"connectors.wecom.corp_id":      "TestConfiguredProvidersAreOffered",
	"connectors.wecom.agent_id":     "TestConfiguredProvidersAreOffered",
	"connectors.wecom.secret":       "TestConfiguredProvidersAreOffered",
	"connectors.dingtalk.id":        "TestConfiguredProvidersAreOffered",
	"connectors.dingtalk.secret":    "TestConfiguredProvidersAreOffered",
	"login_types":                   "TestLoginTypesSayWhatApplicationsAreTold",
	"connectors.wx.signup":          "TestConnectorHasASignUpOfItsOwn",
	"connectors.qq.signup":          "TestConnectorHasASignUpOfItsOwn",
	"connectors.douyin.signup":      "TestConnectorHasASignUpOfItsOwn",
	"connectors.alipay.signup":      "TestConnectorHasASignUpOfItsOwn",
	"connectors.feishu.signup":      "TestConnectorHasASignUpOfItsOwn",
	"connectors.wecom.signup":       "TestConnectorHasASignUpOfItsOwn",
	"connectors.dingtalk.signup":    "TestConnectorHasASignUpOfItsOwn",
	"connectors.oidc":               "TestConfiguredProvidersOfOpenIDConnectAreOffered",
	"fake_providers":                "TestFakesLetAnybodyIn",
	"config":                        "the tests of package config",
	"data":                          "every test",
	"demo":                          "TestDemoThatIsOffIsNotServed",
	"listen":                        "TestPortZeroIsNamedEverywhere",
	"listen_fast":                   "TestPublicListenerAloneIsFast",
	"base_url":                      "TestOriginsOfListeners",
	"master_key":                    "TestMasterKeyIsTheOneOrItSaysSo",
	"master_key_file":               "TestMasterKeyIsTheOneOrItSaysSo",
	"log.level":                     "every test: the log is read at debug",
	"log.requests":                  "TestRequestsNeedNotBeLogged",
	"admin.listen":                  "TestAdminListenerHasWhatOperatorsNeed",
	"admin.hosts":                   "TestAdminListenerAnswersNoNameThatAPageCouldCarry",

	"signup":             "TestInvitedUserSignsUp",
	"account.delete":     "TestOperatorSaysHowAnAccountIsDeleted",
	"account.contact":    "TestOperatorSaysHowAnAccountIsDeleted",
	"profile.attributes": "TestUserChangesListedAttributesWhichClaimsAreMadeOf",
	"mfa.default":        "TestConfigurationSaysWhoNeedsASecondFactor",
	"mfa.admin":          "TestConfigurationSaysWhoNeedsASecondFactor",
	"mfa.developer":      "TestConfigurationSaysWhoNeedsASecondFactor",
	"mfa.auditor":        "TestConfigurationSaysWhoNeedsASecondFactor",
	"mfa.grace":          "TestConfigurationSaysWhoNeedsASecondFactor",
	"mail.smtp.host":     "TestMailsGoWhereTheConfigurationSays",
	"mail.smtp.port":     "TestMailsGoWhereTheConfigurationSays",
	"mail.smtp.tls":      "TestMailsGoWhereTheConfigurationSays",
	"mail.smtp.username": "TestMailsGoWhereTheConfigurationSays",
	"mail.smtp.password": "TestMailsGoWhereTheConfigurationSays",
	"mail.smtp.from":     "TestMailsGoWhereTheConfigurationSays",
	"mail.smtp.timeout":  "TestMailThatTakesTooLongIsGivenUp",

	"bus.origins":        "TestSettingsOfTheBusReachIt",
	"bus.page_size":      "TestSettingsOfTheBusReachIt",
	"claims":             "TestConfiguredClaimsAreInUserInfo",
	"assertions.issuers": "TestAssertionsAreRedeemedByTheProgram",

	"assertions.token_endpoint_audience": "TestAssertionsAreRedeemedByTheProgram",

	"bus.max_answer":            "TestSettingsOfTheBusReachIt",
	"bus.max_name":              "TestSettingsOfTheBusReachIt",
	"bus.per_caller":            "TestSettingsOfTheBusReachIt",
	"audit.keep":                "TestRunningServiceRemovesWhatIsTooOld in internal/audit: here nothing gets old",
	"audit.max_size":            "TestTrailIsAsLargeAsTheSettingSays",
	"registry.max_capabilities": "TestOperatorSaysHowMuchOneUserMayHave",
	"registry.max_tools":        "TestOperatorSaysHowMuchOneUserMayHave",
	"limits.connections_per_ip": "TestAddressHoldsSoManyConnectionsAtEachListener",
	"gateway.stream_life":       "TestCallEndsWithItsTokenWhateverItIs",
	"limits.stream_idle":        "TestSilentStreamIsClosedWhenTheSettingSaysSo",
	"storage_url":               "TestNodesOnPostgreSQLAreOneService",
	"token_log":                 "TestTokenLogSurvivesAKillUnderAnySetting",
	"redis_url":                 "TestNodesCountTogetherOnRedis",
	"node_name":                 "TestNodesCountTogetherOnRedis",
	"drain":                     "TestNodeThatStopsIsNotReadyFirstAndServesUntilThen",
	"otel.endpoint":             "TestTraceIsWholeFromTheBrowserToTheUpstreamOfATool",
	"otel.headers":              "TestTraceIsWholeFromTheBrowserToTheUpstreamOfATool",
	"otel.service_name":         "TestTraceIsWholeFromTheBrowserToTheUpstreamOfATool",
	"otel.sample":               "TestStrangersFlagDoesNotDecideWhatIsSampledButAFollowedProxysDoes",
	"otel.follow":               "TestStrangersFlagDoesNotDecideWhatIsSampledButAFollowedProxysDoes",
	"streams.audit":             "TestStandardOutputHasNothingButRecords",
	"streams.usage":             "TestStandardOutputHasNothingButRecords",
	"streams.batch_age":         "TestBucketIsAsTheConfigurationSays",
	"streams.batch_size":        "TestBucketIsAsTheConfigurationSays",
	"streams.s3.endpoint":       "TestBucketIsAsTheConfigurationSays",
	"streams.s3.region":         "TestBucketIsAsTheConfigurationSays",
	"streams.s3.bucket":         "TestBucketIsAsTheConfigurationSays",
	"streams.s3.prefix":         "TestBucketIsAsTheConfigurationSays",
	"streams.s3.path_style":     "TestBucketIsAsTheConfigurationSays",
	"streams.s3.access_key":     "TestKeyOfTheBucketIsShownNowhere",
	"streams.s3.secret_key":     "TestKeyOfTheBucketIsShownNowhere",
	"streams.s3.session_token":  "TestKeyOfTheBucketIsShownNowhere",
	"streams.s3.encryption":     "TestBucketIsAsTheConfigurationSays",
	"streams.s3.kms_key":        "TestBucketIsAsTheConfigurationSays",
	"logout.allow_private":      "TestListOfPrivateAddressesAnswersOneQuestion",
	"user_events.allow_private": "TestListOfPrivateAddressesAnswersOneQuestion",
	"storage.stale_after":       "TestServerWhoseFeedIsStaleIsNotReadyAndShowsItInItsMetrics",
}

func TestKeyIsTried(t *testing.T) {
	code, out, _ := command(t, "", "config", "--json")
	var values []struct{ Key string }
	if err := json.Unmarshal([]byte(out), &values); code != 0 || err != nil || len(values) < 20 {
		t.Fatalf("config = %d %s, %v", code, out, err)
	}
	tried := ""
	for _, c := range changes {
		tried += c.args + " "
	}
	for _, v := range values {
		flag := "--" + strings.NewReplacer(".", "-", "_", "-").Replace(v.Key) + " "
		if triedElsewhere[v.Key] == "" && !strings.Contains(tried, flag) {
			t.Errorf("nothing shows that a room hears of %s", v.Key)
		}
	}
}

// wantAgent asks a user to sign in to an application that is not registered, and wants to be told why not.
func wantAgent(t *testing.T, s *service, clientID, want string) {
	t.Helper()
	q := url.Values{"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {"http://127.0.0.1:4000/cb"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}}
	if resp, page := get(t, http.DefaultClient, s.base+"/oauth/authorize?"+q.Encode()); resp.StatusCode != 400 ||
		!strings.Contains(page, want) {
		t.Errorf("%s is answered %d %s, want %q", clientID, resp.StatusCode, page, want)
	}
}

// ownToken is a token of the first application itself.
func ownToken(t *testing.T, s *service) string {
	t.Helper()
	record := firstRunOf(t, s.data)
	return machineToken(t, s, record.App.ClientID, record.App.ClientSecret)
}

func wantStatus(t *testing.T, s *service, path, token string, want int) {
	t.Helper()
	var header []string
	if token != "" {
		header = []string{"Authorization", "Bearer " + token}
	}
	if resp, body := get(t, http.DefaultClient, s.base+path, header...); resp.StatusCode != want {
		t.Errorf("%s = %d %s, want %d", path, resp.StatusCode, body, want)
	}
}

// wantCharged sends a call four times under one key.
func wantCharged(t *testing.T, s *service, want int) {
	t.Helper()
	token := ownToken(t, s)
	for range 4 {
		get(t, http.DefaultClient, s.base+"/svc/x", "Authorization", "Bearer "+token, "Idempotency-Key", `"k"`)
	}
	if _, quota := get(t, http.DefaultClient, s.base+"/api/v1/quota", "Authorization", "Bearer "+token); !strings.Contains(quota, fmt.Sprint(`"svc":`, want)) {
		t.Errorf("the quota is %s, want %d calls of svc", quota, want)
	}
}
