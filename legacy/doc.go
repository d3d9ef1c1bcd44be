// Package legacy serves the old endpoints, /connect.php and /check_token.php with the MD5 signature, for
// applications that were written against them (protocol 4.10, 5, 9).
//
//	old, err := legacy.New(ctx, legacy.Config{
//		BaseURL: origin, Store: store, Provider: provider.Legacy(), Verifier: tokens, Visitors: signIn,
//	})
//	old.Mount(mux)
//
// An application calls act=login and is given an address. The user signs in there, at the one provider there
// is, and comes back to redirect_uri with type and code. act=callback redeems the code for the user's identity
// and an access token. act=query looks the user up again, act=check_sso tells whether a browser is signed in,
// check_token whether a token is valid. Package migration reports which applications still use these endpoints;
// Example_fromConnectToOAuth in internal/test/service/legacy shows what takes their place. Nothing that an
// application has stored changes then: its social_uid is the openid of the token response.
//
// # Errors
//
// Every answer has code: 1 is a success; 2 a sign-in that is not back yet; -1 a refusal, with an errcode of protocol 7
// and msg. Most clients of this family take 0 for a success: storage.App.LegacySuccessCode, which
// keystile app create --legacy sets.
//
// # What the signature cannot promise
//
// The MD5 signature (protocol 5) is kept for existing applications. It proves that a holder of the appkey has put these
// parameters together within the last five minutes, and no more:
//
//   - An observer may send a signed address again until its timestamp is 300 seconds old. Codes protect acts that must
//     happen once.
//   - It does not tell where a parameter ends, so one text stands for several requests: compare state, register whole
//     redirect_uris. Parameters that read as if another one began within them are refused (101).
//   - An observer of a request can search for the appkey at the speed of MD5: 256 random bits here, unsafe if chosen by
//     hand. A collision of two texts is one of their signatures too.
//   - It hides nothing, and does not cover the answer, the method or the path.
package legacy
