package parameters

import (
	"slices"
	"strings"
)

// registered are the parameters of requests and answers that IANA's registry of OAuth Parameters lists, and those of
// specifications that are not in it yet.
const registered = `
	client_id client_secret response_type redirect_uri scope state code error error_description error_uri grant_type
	access_token token_type expires_in username password refresh_token nonce display prompt max_age ui_locales
	claims_locales id_token_hint login_hint acr_values claims registration request request_uri id_token session_state
	assertion client_assertion client_assertion_type code_verifier code_challenge code_challenge_method claim_token pct
	rpt ticket upgraded vtr device_code user_code resource audience requested_token_type subject_token
	subject_token_type actor_token actor_token_type issued_token_type response_mode nfv_token iss sub aud exp nbf iat
	jti ace_profile nonce1 nonce2 ace_client_recipientid ace_server_recipientid req_cnf rs_cnf cnf
	authorization_details dpop_jkt sign_info kdcchallenge trust_chain client_metadata client_metadata_uri
	presentation_definition presentation_definition_uri presentation_submission vp_token dcql_query transaction_data
	wallet_nonce wallet_issuer request_uri_method response_uri client_id_scheme verifier_info issuer_state user_hint
	pre-authorized_code tx_code auth_req_id login_hint_token binding_message requested_expiry
	client_notification_token device_secret id_token_signed_response_alg token_type_hint token logout_hint
	post_logout_redirect_uri sid web_message_uri web_message_target grant_id grant_management_action purpose
	confirmation_token policy_id
`

// ofVendors are parameters of other providers and of their client libraries.
const ofVendors = `
	auth0Client organization invitation connection connection_scope screen_hint realm device otp mfa_token oob_code
	binding_code login_ticket ext-upstream_params owp
	idp sessionToken sdk_id activation_token recovery_token enrollAmrValues okta_key
	domain_hint client_info x-client-SKU x-client-VER x-client-OS x-client-CPU x-client-current-telemetry
	x-client-last-telemetry x-app-name x-app-ver x-ms-lib-capability X-AnchorMailbox haschrome sso_reload p instance_aware
	nativebroker clidata claims_challenge slk mkt lc amr_values requested_token_use on_behalf_of
	access_type include_granted_scopes hd approval_prompt openid.realm flowName service o2v2 gsiwebsdk origin ss_domain
	fetch_basic_profile trigger_onepick enable_granular_consent display_name as_user device_id device_name
	kc_idp_hint kc_action kc_action_status kc_action_parameter kc_locale tab_id session_code execution client_data
	client_session_state client_session_host token_endpoint identity_provider lang
	auth_type return_scopes default_audience sdk fb_exchange_token cbt e2e config_id extras messenger_page_id
	appid secret openid forcePopup self_redirect style stylelite fast_login href login_type agentid component_appid
	redirect_url app_id which display_type g_ut owner unionid component_access_token sns_code
	force_confirm force_verify immediate allow_signup login bot_prompt force_login with_offline_access response_format
	user_scope team v granular nux custom_scopes locale partner_id shop state_token tenant tenant_id
	mcp_protocol_version mcp_session_id resource_metadata client_name client_uri logo_uri software_id software_version
	utm_source utm_medium gclid fbclid _ga ref next return_to timestamp sign legacy consent csrf_token a;b grant_type[] x.y
`

func names() []string {
	all := strings.Fields(registered + ofVendors)
	slices.Sort(all)
	return slices.Compact(all)
}
