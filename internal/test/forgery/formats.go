package forgery

import "strings"

// otherFormats: JWE, JWS in JSON and nested tokens, which a general JOSE reader takes.
func (f *forger) otherFormats() []Forgery {
	good := f.sign(f.header(), f.body())
	parts := strings.Split(good, ".")
	jwe := func(header string) string {
		return encode(header) + "." + encode("key") + "." + encode("twelve bytes") + "." + encode(f.body().String()) + "." +
			encode("sixteen bytes of")
	}
	flat := `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`
	return []Forgery{
		{"JWE: dir", jwe(`{"alg":"dir","enc":"A256GCM"}`)},
		{"JWE: RSA-OAEP with our kid", jwe(`{"alg":"RSA-OAEP","enc":"A256GCM","kid":` + quote(f.main.ID) + `}`)},
		{"JWE: ECDH-ES with our kid", jwe(`{"alg":"ECDH-ES","enc":"A256GCM","kid":` + quote(f.main.ID) + `,"epk":` + jwk(f.main.private.Public()) + `}`)},
		{"JWE: PBES2 with a billion rounds", jwe(`{"alg":"PBES2-HS256+A128KW","enc":"A128CBC-HS256","p2s":"AAAAAAAAAAA","p2c":1000000000}`)},
		{"JWE: compressed", jwe(`{"alg":"dir","enc":"A256GCM","zip":"DEF"}`)},
		{"JWE: empty", "...."},
		{"JWE: our header", parts[0] + "..." + parts[1] + "." + parts[2]},
		{"JWS in JSON, flattened", flat},
		{"JWS in JSON, general", `{"payload":"` + parts[1] + `","signatures":[{"protected":"` + parts[0] + `","signature":"` + parts[2] + `"}]}`},
		{"JWS in JSON, in base64url", encode(flat)},
		{"a token within a token", f.seal(f.main, parts[0], encode(good))},
		{"a token within a token, as a string", f.seal(f.main, parts[0], encode(`"`+good+`"`))},
	}
}
