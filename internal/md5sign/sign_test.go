package md5sign

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

const signingKey = "S3cr3tKeyForTests0123456789abcdef"

var signedAt = time.Unix(1700000000, 0)

func signing(keys ...storage.AppSecret) storage.App {
	if keys == nil {
		keys = []storage.AppSecret{{Secret: storage.NewSecret(signingKey)}}
	}
	return storage.App{ID: "1000", Secrets: keys}
}

// sent are parameters as they come over the wire.
func sent(t testing.TB, query string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Decision 48.
func TestSignatureIsThatOfTheVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/md5-sign.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name, Secret, Canonical, Sign, Expect string
			Query                                 string `json:"raw_query"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Vectors) != 24 {
		t.Fatalf("%d vectors, want 24: %v", len(file.Vectors), err)
	}
	for _, v := range file.Vectors {
		params := sent(t, v.Query)
		app := signing(storage.AppSecret{Secret: storage.NewSecret(v.Secret)})
		if v.Expect == "reject" {
			params.Set("sign", Of(app, params))
			if err := Check(app, params, signedAt); !errors.Is(err, ErrRepeated) {
				t.Errorf("%s: CheckSign = %v, want ErrRepeated", v.Name, err)
			}
			continue
		}
		if got := string(canonical(params)) + "appkey=" + v.Secret; got != v.Canonical {
			t.Errorf("%s: canonical = %q, want %q", v.Name, got, v.Canonical)
		}
		if got := Of(app, params); got != v.Sign {
			t.Errorf("%s: Sign = %s, want %s", v.Name, got, v.Sign)
		}
		params.Set("sign", v.Sign)
		want := error(nil)
		if !params.Has("timestamp") {
			want = ErrTimestamp
		}
		for _, known := range [][]string{nil, everyName} {
			if err := Check(app, params, signedAt, known...); !errors.Is(err, want) {
				t.Errorf("%s: CheckSign = %v, want %v", v.Name, err, want)
			}
		}
	}
}

// everyName lists the names that the signed endpoints know between them.
var everyName = strings.Fields(`act appid appkey type redirect_uri state code social_uid access_token token response_type client_id scope
	code_challenge code_challenge_method nonce prompt max_age login_hint ui_locales resource response_mode login_type legacy`)

// Decision 63. The two of a pair have the same text, so the same signature: who has
// seen one could send the other.
func TestSignatureHasOneReading(t *testing.T) {
	app := signing()
	for name, c := range map[string]struct{ honest, forged string }{
		"a value that an application took from a " +
			"stranger": {"appid=1000&state=1%26timestamp=1700000000%26type=qq%26z=&timestamp=1700000000&type=wx",
			"appid=1000&state=1&timestamp=1700000000&type=qq&z=%26timestamp=1700000000%26type=wx"},
		"a state that is taken into another value": {"appid=1000&social=x&state=1&timestamp=1700000000",
			"appid=1000&social=x%26state=1&timestamp=1700000000"},
		"a name that takes one in": {"appid=1000&state=1&timestamp=1700000000&type=wx",
			"appid=1000&state%3D1%26timestamp%3D1700000000%26type=wx&timestamp=1700000000"},
		"a name that begins like another": {"appid=1000&state=1&t=2&timestamp=1700000000",
			"appid=1000&state%3D1%26t=2&timestamp=1700000000"},
		"the appkey that was sent along": {"appid=1000&appkey=x&timestamp=1700000000",
			"appid=1000%26appkey=x&timestamp=1700000000"},
	} {
		good := 0
		for _, query := range []string{c.honest, c.forged} {
			params := sent(t, query)
			params.Set("sign", Of(app, params))
			if err := Check(app, params, signedAt, "appid", "state", "type"); err == nil {
				good++
			} else if !errors.Is(err, ErrAmbiguous) {
				t.Errorf("%s: CheckSign(%s) = %v, want ErrAmbiguous", name, query, err)
			}
		}
		if good > 1 {
			t.Errorf("%s: both readings are good", name)
		}
	}
}

func TestValueMayHoldWhatNoEndpointKnows(t *testing.T) {
	app := signing()
	for query, want := range map[string]error{
		"state=a%26b=c": nil, "state=a%26type": nil, "state=a%26%26": nil, "state=type=1": nil, "state=a%26xtype=1": nil,
		"state=a%26Type=1": nil, "state=a%26typed=1": nil,
		"x%26y=1": nil, "x%3Dy=1": nil, "type%26x=1": nil,
		"redirect_uri=https://a.example/cb?a=1%26state=2%26type=3": nil,
		"state=a%26type=1": ErrAmbiguous, "state=%26type=": ErrAmbiguous, "state=a%26redirect_uri=b": ErrAmbiguous,
		"other=a%26type=1": ErrAmbiguous, "x%26type=1": ErrAmbiguous,
		"state=a%26sign=b": ErrAmbiguous, "state=a%26timestamp=1": ErrAmbiguous, "state=a%26appkey=b": ErrAmbiguous,
		"redirect_uri2=a%26type=1": ErrAmbiguous, "Redirect_uri=a%26type=1": ErrAmbiguous,
	} {
		params := sent(t, query+"&timestamp=1700000000")
		params.Set("sign", Of(app, params))
		if err := Check(app, params, signedAt, "state", "type", "redirect_uri"); !errors.Is(err, want) {
			t.Errorf("%s: CheckSign = %v, want %v", query, err, want)
		}
	}
	params := sent(t, "redirect_uri=a%26token=1&timestamp=1700000000")
	params.Set("sign", Of(app, params))
	if err := Check(app, params, signedAt, "token"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("redirect_uri where nobody knows it: CheckSign = %v, want ErrAmbiguous", err)
	}
}

// Other families of signatures sign the same parameters differently.
func TestVariantsOfOtherFamiliesAreRefused(t *testing.T) {
	for name, c := range map[string][2]string{
		"empty values skipped": {"act=login&appid=1000&state=&timestamp=1700000000&type=wx",
			"4550b34aa0120dc26a4b8f7b0b73f90e"},
		"PHP's ksort()": {"10=a&9=b&2=c&appid=1000&timestamp=1700000000", "aebe1782f41d79910206d6288621387f"},
		"PHP's $_GET": {"app-id=1&app.id=2&app_id=3&appid=1000&appkeyx=4&timestamp=1700000000",
			"c7fa811aaabfb6f63af0837b068a25b4"},
		"order by UTF-16": {"%EF%BD%9E=bmp&%F0%9F%98%80=astral&appid=1000&timestamp=1700000000",
			"b74485165d7671aff999da72239563e4"},
	} {
		params := sent(t, c[0]+"&sign="+c[1])
		if err := Check(signing(), params, signedAt); !errors.Is(err, ErrSign) {
			t.Errorf("%s: CheckSign = %v, want ErrSign", name, err)
		}
	}
}

func TestTimestampHoldsForFiveMinutesEitherWay(t *testing.T) {
	app := signing()
	for _, c := range []struct {
		timestamp string
		good      bool
	}{
		{"1700000000", true}, {"1699999700", true}, {"1700000300", true}, {"001700000000", true},
		{"1699999699", false}, {"1700000301", false}, {"0", false}, {"", false},
		{"1700000000000", false}, {"0001700000000", false}, {"1.7e9", false}, {"+1700000000", false}, {"-1700000000", false},
		{" 1700000000", false}, {"1700000000 ", false}, {"1700000000.0", false}, {"0x6553f100", false},
		{"1_700_000_000", false},
		{"１７００００００００", false}, {"99999999999999999999", false}, {"18446744073709551615", false},
	} {
		params := url.Values{"act": {"login"}, "timestamp": {c.timestamp}}
		params.Set("sign", Of(app, params))
		err := Check(app, params, signedAt)
		if c.good && err != nil || !c.good && !errors.Is(err, ErrTimestamp) {
			t.Errorf("timestamp %q: CheckSign = %v, want good %t", c.timestamp, err, c.good)
		}
	}
}

// Decisions 48 and 63: 105, then 101, then 103.
func TestTimestampIsCheckedFirstThenRepetitionThenTheSign(t *testing.T) {
	app := signing()
	for _, c := range []struct {
		query string
		want  error
	}{
		{"a=1&a=2&sign=x", ErrTimestamp},
		{"a=1&sign=00000000000000000000000000000000&timestamp=1", ErrTimestamp},
		{"a=1&a=2&timestamp=1700000000", ErrRepeated},
		{"a=1&timestamp=1700000000&timestamp=1700000000", ErrRepeated},
		{"a=1&timestamp=1700000000&sign=x&sign=y", ErrRepeated},
		{"a=1%26timestamp=1&timestamp=1", ErrTimestamp},
		{"a=1%26timestamp=1&b=1&b=2&timestamp=1700000000", ErrRepeated},
		{"a=1%26timestamp=1&timestamp=1700000000&sign=x", ErrAmbiguous},
		{"a=1&timestamp=1700000000", ErrSign},
		{"a=1&timestamp=1700000000&sign=", ErrSign},
		{"a=1&timestamp=1700000000&sign=00000000000000000000000000000000", ErrSign},
	} {
		if err := Check(app, sent(t, c.query), signedAt); !errors.Is(err, c.want) {
			t.Errorf("%s: CheckSign = %v, want %v", c.query, err, c.want)
		}
	}
}

func TestSignMayBeWrittenInUpperCaseAndInNoOtherWay(t *testing.T) {
	app := signing()
	params := url.Values{"act": {"login"}, "timestamp": {"1700000000"}}
	sign := Of(app, params)
	for text, good := range map[string]bool{
		sign: true, strings.ToUpper(sign): true, sign[:31]: false, sign[:30]: false, sign + "00": false, " " + sign: false,
		sign + "\n": false, "0x" + sign: false, sign + "g": false, sign + "0": false,
	} {
		params.Set("sign", text)
		if err := Check(app, params, signedAt); (err == nil) != good {
			t.Errorf("sign %q: CheckSign = %v, want good %t", text, err, good)
		}
	}
}

func TestParameterIsSigned(t *testing.T) {
	app := signing()
	params := sent(t, "act=login&appid=1000&state=&timestamp=1700000000&Sign=1")
	params.Set("sign", Of(app, params))
	for _, change := range []func(url.Values){
		func(v url.Values) { v.Set("act", "callback") },
		func(v url.Values) { v.Set("timestamp", "1700000001") },
		func(v url.Values) { v.Set("more", "") },
		func(v url.Values) { v.Del("state") },
		func(v url.Values) { v.Del("Sign") },
	} {
		changed := maps.Clone(params)
		change(changed)
		if err := Check(app, changed, signedAt); !errors.Is(err, ErrSign) {
			t.Errorf("CheckSign(%v) = %v, want ErrSign", changed, err)
		}
	}
	if err := Check(app, params, signedAt); err != nil {
		t.Errorf("CheckSign(what was signed) = %v, want no error", err)
	}
}

func TestSignAcceptsBothSecretsDuringARotation(t *testing.T) {
	older, newer := storage.NewSecret(strings.Repeat("o", 43)), storage.NewSecret(strings.Repeat("n", 43))
	app := signing(storage.AppSecret{Secret: newer}, storage.AppSecret{Secret: older,
		ExpiresAt: signedAt.Add(time.Second)})
	params := url.Values{"timestamp": {"1700000000"}}
	if got, want := Of(app, params), Of(signing(storage.AppSecret{Secret: newer}), params); got != want {
		t.Errorf("Sign = %s, want %s, of the newest secret", got, want)
	}
	params.Set("sign", Of(app, params))
	if err := Check(app, params, signedAt); err != nil {
		t.Errorf("CheckSign(new secret) = %v, want no error", err)
	}
	params.Set("sign", Of(signing(storage.AppSecret{Secret: older}), params))
	if err := Check(app, params, signedAt); err != nil {
		t.Errorf("CheckSign(old secret) = %v, want no error", err)
	}
	if err := Check(app, params, signedAt.Add(time.Second)); !errors.Is(err, ErrSign) {
		t.Errorf("CheckSign(old secret, when it has ended) = %v, want ErrSign", err)
	}
}

func TestSignRefusesAnEmptySecret(t *testing.T) {
	params := url.Values{"timestamp": {"1700000000"}}
	public := signing()
	public.Public = true
	for name, app := range map[string]storage.App{"nobody": {}, "an empty secret": {Secrets: []storage.AppSecret{{}}},
		"a public application": public} {
		for _, key := range []storage.App{signing(), signing(storage.AppSecret{Secret: storage.NewSecret(" ")})} {
			signed := maps.Clone(params)
			signed.Set("sign", Of(key, params))
			if err := Check(app, signed, signedAt); !errors.Is(err, ErrSign) {
				t.Errorf("%s: CheckSign = %v, want ErrSign", name, err)
			}
		}
	}
	empty := digest(canonical(params), storage.Secret{})
	params.Set("sign", hex.EncodeToString(empty[:]))
	if err := Check((storage.App{Secrets: []storage.AppSecret{{}}}), params, signedAt); !errors.Is(err, ErrSign) {
		t.Errorf("signed with the empty secret: CheckSign = %v, want ErrSign", err)
	}
	if got := Of((storage.App{}), params); got != "" {
		t.Errorf("Sign without a secret = %q, want none", got)
	}
}

func TestRequestIsSignedAsSoonAsItSaysSo(t *testing.T) {
	for query, want := range map[string]bool{
		"": false, "appkey=x": false, "Sign=x&TIMESTAMP=1": false,
		"sign=x": true, "timestamp=1": true, "sign": true, "timestamp=": true,
	} {
		if got := IsSigned(sent(t, query)); got != want {
			t.Errorf("IsSigned(%q) = %t, want %t", query, got, want)
		}
	}
}

// However the parameters were encoded, one that was signed is good, and one that says
// anything else is not.
func FuzzCanonical(f *testing.F) {
	for _, seed := range [][2]string{
		{"act=login&appid=1000&state=a+b%26c", "state"}, {"a=1&b=2&c=", "c"}, {"%F0%9F%98%80=x&%EF%BD%9E=y", "~"},
		{"sign=1&Sign=2", "sign"},
		{"a=%ff&%00=%0a", "\x00"}, {"10=a&9=b&2=c", "9"}, {"appkey=x&app-id=y&app.id=z", "appkey"}, {"a&b&c", "b"},
		{"=&==", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	app := signing()
	f.Fuzz(func(t *testing.T, query, name string) {
		params, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		params.Set("timestamp", "1700000000")
		params.Set("sign", Of(app, params))
		repeated := slices.ContainsFunc(slices.Collect(maps.Values(params)), func(v []string) bool { return len(v) > 1 })
		err = Check(app, params, signedAt)
		if repeated != errors.Is(err, ErrRepeated) || !repeated && err != nil && !errors.Is(err, ErrAmbiguous) {
			t.Errorf("CheckSign(%q) = %v, with a repeated name: %t", query, err, repeated)
		}
		ambiguous := errors.Is(err, ErrAmbiguous)
		again, err := url.ParseQuery(params.Encode())
		if err != nil || Of(app, again) != params.Get("sign") {
			t.Errorf("%q is signed in another way once it has been encoded anew", query)
		}
		if name == "sign" || name == "timestamp" || repeated || ambiguous {
			return
		}
		params.Set(name, params.Get(name)+"x")
		if err := Check(app, params, signedAt); !errors.Is(err, ErrSign) && !errors.Is(err, ErrAmbiguous) {
			t.Errorf("CheckSign(%q, %q changed) = %v, want ErrSign", query, name, err)
		}
	})
}
