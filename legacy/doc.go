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
// check_token whether a token is valid.
//
// Most clients of this family take code 0 for a success; protocol 4 says 1, which stays the default. Such an
// application is registered with
//
//	keystile app create --name Forum --domain forum.example.com --legacy
//
// or changed with keystile app set CLIENT_ID --legacy-success-code 0, or on its page in the console; a program
// sets storage.App.LegacySuccessCode.
//
// # Errors
//
// Every answer has code: 1 (or 0, see above) is a success; 2 a sign-in that is not back yet; -1 a refusal, with
// errcode and msg:
//
//	101    a parameter is missing, malformed, sent twice or, in a signed request, ambiguous
//	102    appid unknown or disabled
//	103    appkey or sign wrong, a signature wanted, redirect_uri not registered
//	104    type unknown, not offered, or not the code's
//	105    timestamp missing, malformed or more than 300 s off
//	106    social_uid unknown to this application
//	107    code unknown or expired
//	40163  code redeemed before
//	201    the store does not answer (HTTP 503)
//	301    something else behind this endpoint failed (HTTP 500)
//	401    the access token is no good
//	429    too many requests, or too many wrong keys
//
// # From connect.php to OAuth
//
// Nothing that an application has stored changes: the social_uid of a user is the openid of the token response,
// appid and appkey are client_id and client_secret. act=login becomes /oauth/authorize with PKCE, act=callback
// a POST to /oauth/token, act=query and check_token a GET of /oauth/userinfo: Example_fromConnectToOAuth in
// internal/test/service/legacy shows both ways side by side. The old endpoints stay open meanwhile; package
// migration reports which applications still use them.
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
