package tools

import (
	"maps"

	"github.com/keystile/keystile/gateway/console/internal/ui"
)

// problems hold what can be wrong with a form, and its translation.
var problems = ui.Texts{
	"The document is no longer kept: choose it again. Nothing was registered.": "文档已不再保留：请重新选择。尚未注册任何内容。",
	"An MCP endpoint takes no document: choose the other, or leave the document " +
		"out.": "MCP 端点不需要文档：请选择另一项，或不要提供文档。",
	"There is no sample here.":                             "此处没有示例。",
	"The file could not be read: choose it again.":         "无法读取文件：请重新选择。",
	"Choose one document: a file, a pasted text or a URL.": "请只选择一种：文件、粘贴的文本或 URL。",
	"URL of the document: it begins with https:// or http:// and has a " +
		"host.": "文档的 URL 须以 https:// 或 http:// 开头，并包含主机名。",
	"Choose an OpenAPI document: a file, a pasted text or a URL.":    "请选择 OpenAPI 文档：文件、粘贴的文本或 URL。",
	"Name is missing: tools are called by it, and the name of each.": "缺少名称：工具将以此名称加上各自的名称来调用。",
	"Upstream URL is missing: say where calls go.":                   "缺少上游 URL：请填写调用发往的地址。",
	"Upstream URL begins with https:// or http:// and has a " +
		"host.": "上游 URL 须以 https:// 或 http:// 开头，并包含主机名。",
	"Webhook URL begins with https:// or http:// and has a " +
		"host.": "Webhook URL 须以 https:// 或 http:// 开头，并包含主机名。",
	"Seconds that a call may take: a whole number from 1 to 600.":                     "单次调用的最长秒数须为 1 到 600 的整数。",
	"Upstream URL is missing: the document names no server, so say where calls go.":   "缺少上游 URL：文档没有写明服务器，请填写调用发往的地址。",
	"The document has given the name or the upstream URL: check them, then register.": "名称或上游 URL 取自文档：请核对后再注册。",
	"Type the name as it stands above: nothing was deleted.":                          "请按上方所示输入名称：尚未删除任何内容。",
	"Name has 1 to 48 letters of A to Z, digits, - and _. It begins with a letter or a digit, does not end in _ and has " +
		"no __.": "名称由 1 到 48 个英文字母、数字、- 和 _ 组成，以字母或数字开头，不以 _ 结尾，且不含 __。",
	"This is another document than the one that you looked at: look at its preview, then register " +
		"it.": "这与您刚才查看的文档不同：请先预览，再注册。",
	noCapability.Msg: "没有这个 API：请在列表中查看现有名称", noTool.Msg: "此 API 没有这个工具",
	notOnBus.Msg:                            "此 API 未在 MCP 服务器上线：请先上线，再调用其工具",
	noDelivery.Msg:                          "没有这次投递：它已送达或已过期",
	"no JSON value at byte %d":              "第 %d 字节处不是 JSON 值",
	"the document could not be fetched: %s": "无法获取文档：%s",
	"its server redirects too often":        "其服务器重定向次数过多", "its server could not be reached": "无法连接其服务器",
	"it has more than 16 MiB": "超过 16 MiB", "its server answers with status %s": "其服务器以状态 %s 响应",
	"its server did not answer within %s seconds": "其服务器未在 %s 秒内响应",
	"its server redirects to nowhere safe":        "其服务器重定向到不安全的地址",
	"its server is at an address that is not asked from here: the operator allows private ones " +
		"(upstreams.allow_private)": "系统不会访问该服务器的地址，内网地址须由运维人员放行（upstreams.allow_private）",
	"%s: the scheme of the URL must be http or https": "%s：URL 须以 http 或 https 开头",
	"the scheme of the URL must be http or https":     "URL 须以 http 或 https 开头",
	"%s: the host of the URL must be a name of ASCII letters, digits, - and . (xn-- for others) or an " +
		"address": "%s：URL 的主机名只能包含英文字母、数字、- 和 .（其他文字请用 xn-- 形式），或是一个 IP 地址",
	"%s: the URL must not hold a user or password: use auth_type and " +
		"auth_secret": "%s：URL 中不能包含用户名或密码，请填写认证方式与凭据",
	"%s: the URL must not have a fragment (#...): leave it out":            "%s：URL 中不能包含片段（#...）",
	"%s: the port of the URL must be 1 to 65535":                           "%s：URL 的端口须为 1 到 65535",
	"%s: the URL cannot be read: write it like https://api.example.com/v1": "%s：无法识别该 URL，请写成 https://api.example.com/v1",
	"upstream_url: this is the bus itself: name the service whose tools are " +
		"meant": "上游 URL：这是 MCP 服务器自身，请填写提供工具的服务",
	"member: this name has a meaning here; choose another":                 "名称：此名称有特殊含义，请另选一个",
	"this capability belongs to somebody else: choose another member name": "此 API 属于他人：请另选一个名称",
	"a capability of somebody else has this name, but for case, - and _: choose another member " +
		"name": "他人已有名称相近的 API（仅大小写、- 或 _ 不同）：请另选一个名称",
	"this name was somebody else's and is kept for them: choose another member name": "此名称曾属于他人，仍为其保留：请另选一个名称",
	"this would remove %s of the tools that are there, and nothing is stored: %s. If that is meant, say so (--replace " +
		"at the command line, the box in the console); to change a label, a credential or a timeout, update the " +
		"capability": "这会移除 %s 个现有工具，因此没有保存：%s。如果确实如此，请勾选下方选项；仅更改标签、凭据或时限时请使用“设置”页",
	"the document names no version that is known: it needs \"openapi\": \"3.x\" or \"swagger\": " +
		"\"2.0\"": "文档没有写明可识别的版本：需要 openapi 3.x 或 swagger 2.0",
	"the document does not begin with {, and as YAML it is wrong %s": "文档不以 { 开头，作为 YAML 也有错误 %s",
	"the document begins with { and is not JSON (%s): mend it, or begin it with a line --- if it is " +
		"YAML": "文档以 { 开头但不是 JSON（%s）：请改正；如果是 YAML，请在首行写 ---",
	"the document has no operation that can become a tool: put get, post, put, delete or patch under a path that starts " +
		"with /": "文档中没有可成为工具的操作：请在以 / 开头的路径下提供 get、post、put、delete 或 patch",
	"auth_secret must be user:password for auth_type basic":  "凭据：basic 认证须写成“用户名:密码”",
	"auth_secret must not be empty unless auth_type is none": "凭据不能为空，除非不使用认证",
	"an administrator sets identity headers, which an upstream believes of every capability: choose identity signed, " +
		"which says which tool is called": "上游会相信任何 API 的请求头，因此只能由管理员设置：请选择签名声明，其中注明所调用的工具",
	"auth_secret must have no control characters": "凭据不能包含控制字符",
	"auth_in must be header or query, and auth_name must be given, for auth_type " +
		"api_key": "使用 API 密钥时，须选择其位置，并填写请求头或参数名",
	"webhook_secret is there without webhook_url: say where events go": "填写了 Webhook 密钥但没有 Webhook URL：请填写事件发往的地址",
}

// allTexts returns all that the pages say.
func allTexts() ui.Texts {
	all := maps.Clone(texts)
	maps.Copy(all, problems)
	return all
}
