package page

// landingTexts are those of the page at the root of a service, and of a path that nobody serves.
var landingTexts = map[string]string{
	"Sign-in, a gateway and tools for agents: one key for all of them.": "登录、网关与智能体工具：一把钥匙，全部通行。",

	"Try the demo":                 "试用演示",
	"Console":                      "控制台",
	"Discovery document":           "发现文档（OpenID Connect）",
	"All endpoints, as OpenAPI":    "全部接口（OpenAPI）",
	"Your account at this service": "您在本服务的账户",
}
