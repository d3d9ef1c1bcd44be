// Package errortexts has the errors that pages of several parts of the console show, in Chinese.
package errortexts

// All holds each text by the English one. A %s, %q or %d stands for a value.
var All = map[string]string{
	// Fields.
	"%s has no tool %s: see its page for those it has": "%s 没有工具 %s：请在其页面查看现有的工具",
	"%s is an administrator's to set: leave it out":    "“%s”只能由管理员设置：请不要填写",
	"%s is longer than any there is":                   "“%s”过长，没有这样的记录",
	"%s is missing: fill it in":                        "请填写“%s”",
	"%s is no time: write 2026-11-21 or 2026-11-21T15:00:00Z, in " +
		"UTC": "“%s”不是时间：请按 UTC 写成 2026-11-21 或 2026-11-21T15:00:00Z",
	"%s is not %s":                                         "“%s”不是%s",
	"%s is not a number":                                   "“%s”不是数字",
	"%s is not a whole number":                             "“%s”不是整数",
	"%s is not a text":                                     "“%s”不是文本",
	"%s is not JSON":                                       "“%s”不是 JSON",
	"%s is not true or false":                              "“%s”只能为是或否",
	"%s is not 0 or 1":                                     "“%s”只能为 0 或 1",
	"%s is not a list of texts":                            "“%s”不是文本列表",
	"%s is null: leave it out, or give it a value":         "“%s”为空：请不要填写，或给出一个值",
	"%s: more than one has this name, so type an id: %s":   "%s：有多个同名的，请改为输入 ID：%s",
	"%s: no user is called %q":                             "%s：没有名为 %s 的用户",
	"%s: no application is called %q":                      "%s：没有名为 %s 的应用",
	"more than one has this name":                          "有多个同名的",
	"nothing has this name or id":                          "没有这个名称或 ID",
	"there is no such %s":                                  "没有这样的%s",
	"the fields %s":                                        "字段有误：%s",
	"there is nothing to change: send some of %s":          "没有要修改的内容：可修改的有 %s",
	"value is one of %s":                                   "取值只能是 %s 之一",
	"timeout is not a number":                              "超时时间不是数字",
	"after is the next of the page before, as it was sent": "此页的地址不完整：请从列表的第一页重新翻页",
	"the form could not be read, or is larger than %s KiB": "无法读取表单，或其大小超过 %s KiB",
	"the file could not be read: choose it again":          "无法读取文件：请重新选择",
	"the body could not be read: send a JSON object":       "无法读取请求内容：请发送 JSON 对象",
	"the body is not a JSON object: send one such as {}":   "请求内容不是 JSON 对象：请发送类似 {} 的内容",
	"the query is malformed":                               "查询参数有误",
	"send Content-Type: application/json":                  "请发送 Content-Type: application/json",

	// Errors of rights.
	"this takes the role admin or auditor: ask an administrator for it":                    "此操作需要管理员或审计员角色：请向管理员申请",
	"this takes the role admin or developer: ask an administrator for it":                  "此操作需要管理员或开发者角色：请向管理员申请",
	"this takes the role admin, developer or auditor: ask an administrator for it":         "此操作需要管理员、开发者或审计员角色：请向管理员申请",
	"this takes the role admin: ask an administrator to do it":                             "此操作需要管理员角色：请由管理员操作",
	"the role auditor reads everything and changes nothing: ask an administrator to do it": "审计员可以查看一切，但不能修改：请由管理员操作",
	"this field is an administrator's to set":                                              "此字段只能由管理员设置",
	"an operator has set this field, so only an operator changes it: ask one, or leave it " +
		"out": "此字段由运维人员设置，只有运维人员可以修改：请联系他们，或不要填写",
	"%s: an operator has set it, so only an operator changes it: ask one, or leave it " +
		"out": "“%s”由运维人员设置，只有运维人员可以修改：请联系他们，或不要改动",
	"redirect_uris: an operator has set the domains, so only an operator adds an address of a private-use scheme: ask " +
		"one, or leave it out": "域名由运维人员设置，只有运维人员可以添加自定义协议的重定向地址：请联系他们，或不要添加",
	"backchannel_logout_uri: the address is of this machine or of a private network: ask an administrator to set it in " +
		"the console, or give a public one": "会话结束通知地址属于本机或内网：请由管理员在控制台设置，或填写公网地址",
	"an operator has set this rule, so only an operator takes it away: ask one": "此规则由运维人员设置，只有运维人员可以移除：请联系他们",
	"an application does not do this with its own token: it takes a user's token with the scope apps, or the " +
		"console": "应用不能用自己的令牌这样做：需要带 apps 范围的用户令牌，或使用控制台",
	"sign in first: this is opened by the cookie open_sso_token": "请先登录：此处凭 Cookie open_sso_token 打开",
	"sign in again at /oauth/signin, and send this once more: it takes a sign-in that is not older than 10 " +
		"minutes": "请在 /oauth/signin 重新登录后再次提交：需要 10 分钟内的登录",
	"prove your second factor at /oauth/account/confirm, and send this once more: this sign-in has not proved " +
		"it": "请在 /oauth/account/confirm 完成两步验证后再次提交：本次登录尚未验证",
	"this was sent from a page of another site: the operator can list it in " +
		"cors.origins": "此请求来自其他网站的页面：运维人员可在 cors.origins 中列出该网站",
	"no such resource: check the path":                                                 "没有这个页面：请检查地址",
	"something failed here: try again, and tell the operator the time of this request": "服务出错：请重试，并将此请求的时间告诉运维人员",

	// Applications.
	"you have as many applications as one user may: delete one first": "您的应用数量已达上限：请先删除一个",
	"no more applications":                                 "应用数量已达上限",
	"%s is public: it has no secret":                       "%s 是公开应用：没有密钥",
	"%s was registered here: use DeleteApp":                "%s 是在此注册的应用：请用删除应用",
	"the application %s is built in: it cannot be changed": "应用 %s 为内置应用：不能修改",
	"%s: no user is called %s: give a username or a sub":   "%s：没有名为 %s 的用户：请填写用户名或 sub",
	"%s: nobody is no choice: say everyone, name subjects such as group:ops, or disable the " +
		"application": "%s：不能为空：请填写 everyone，或 group:ops 这样的对象，或停用应用",
	"%s: everyone includes the others: give it alone, or leave it out":   "%s：everyone 已包含其他对象：请单独填写，或去掉它",
	"%s: there is no group %q: make it first, or leave it out":           "%s：没有用户组 %s：请先创建，或不要填写",
	"%s: there is no user %q: give a username or a sub, or leave it out": "%s：没有用户 %s：请填写用户名或 sub，或不要填写",
	"%s: %q is no user: it is everyone, role:R, user:SUB or " +
		"group:NAME": "%s：%s 不是用户：请填写 everyone、role:角色、user:用户名或 group:名称",
	"%s: subject: %s": "%s：对象有误：%s",
	"%s: at most %d subjects: make a group of them": "%s：最多 %d 个对象：请建立用户组",
	"group_filter: groups: %q is no pattern of names: it has a-z 0-9 . _ - and *, which stands for any " +
		"text": "%s 不是名称模式：可含 a-z 0-9 . _ - 以及代表任意文本的 *",
	"group_filter: %s":                  "用户组模式有误：%s",
	"group_filter: at most %d patterns": "用户组模式最多 %d 个",
	"exchange: a public application cannot prove that it is the one that may": "公开应用无法证明自己的身份，不能交换令牌",
	"exchange_for: %q: name each application once, by its " +
		"client_id": "exchange_for：%q：每个应用只写一次，用其 client_id",
	"exchange_for: at most %d applications":                                           "exchange_for 最多 %d 个应用",
	"jwks is not JSON, and no address that begins with https://":                      "密钥既不是 JSON，也不是以 https:// 开头的地址",
	"jwks is no JSON Web Key Set, and not null":                                       "jwks 不是 JSON Web Key Set，也不是 null",
	"jwks: a public application can keep no key: register another one without public": "公开应用无法保管密钥：请另行注册非公开的应用",
	"jwks: give keys, or the address where they are":                                  "jwks：请给出密钥或其地址",
	"jwks: the document of this application says its keys":                            "该应用的密钥由其文档给出",
	"claims: at most %d rules":                                                        "自定义声明最多 %d 条规则",
	"claims: %q: %s":                                                                  "自定义声明 %s 有误：%s",
	"claims is not a list of rules, each an object of claim, from, scope and " +
		"in": "自定义声明应为规则列表，每条包含 claim、from、scope 和 in",
	"application: %s":                            "应用：%s",
	"backchannel_logout_uri: %s":                 "会话结束通知地址：%s",
	"brand color: %q is not of the form #rrggbb": "品牌颜色：%s 不是 #rrggbb 的形式",
	"brand logo: %q is neither an https address nor a path that begins with one /":  "品牌徽标：%s 既不是 https 地址，也不是以一个 / 开头的路径",
	"brand name: at most %d bytes of text":                                          "品牌名称：最多 %d 字节的文本",
	"brand is not an object of name, logo and color":                                "品牌应包含名称、徽标和颜色",
	"brand is not an object of name, logo and color, each a text":                   "品牌应包含名称、徽标和颜色，且均为文本",
	"an application has a secret unless it is public":                               "应用须有密钥，公开应用除外",
	"an application that nobody registered here is not told of the end of sessions": "未经注册的应用不会收到会话结束通知",
	"a private-use scheme is for public applications, which hold no secret: register this one with " +
		"https": "自定义协议仅供没有密钥的公开应用使用：请为此应用登记 https 地址",
	"domain %q: %s; give a host such as app.example.com, or " +
		"host:port": "域名 %s 有误（%s）：请填写主机名，例如 app.example.com，或“主机:端口”",
	"domain %q: wildcards are not supported; list each host":              "域名 %s：不支持通配符，请逐个列出主机",
	"domains: %q is not in normal form; use what NormalizeDomain returns": "域名：%s 不是规范形式",
	"domains, redirect_uris: at most 50 of each":                          "域名和重定向地址各最多 50 个",
	"domains is missing: list the hosts that users may be sent back to, such as app.example.com; a program on a device " +
		"may have redirect_uris of a private-use scheme instead": "请填写域名：列出用户登录后可返回的主机，例如 app.example.com；" +
		"设备上的程序也可改填自定义协议的重定向地址",
	"redirect_uris: %q: %s": "重定向地址 %s：%s",
	"forbid_plain_key: a public application has no appkey to sign with": "公开应用没有可用于签名的密钥",
	"held: %q is none of the fields that an owner changes: %s":          "%s 不是所有者可修改的字段：可填写的有 %s",
	"host %q is not among the application's domains":                    "主机 %s 不在该应用的域名之中",
	"host %q is malformed":                                                  "主机 %s 格式有误",
	"http is allowed for loopback hosts only; use https":                    "http 仅允许用于本机地址；请使用 https",
	"id_token_alg: %q is none of HS256, ES256, RS256, EdDSA":                "ID 令牌签名算法：%s 不是 HS256、ES256、RS256 或 EdDSA",
	"id_token_alg: a public application has no secret for HS256; use ES256": "ID 令牌签名算法：公开应用没有 HS256 所需的密钥；请用 ES256",
	"it can be read in more than one way":                                   "此地址可有多种理解",
	"it is not one of the application's registered redirect_uris":           "它不是该应用登记的重定向地址",
	"it is not one of the application's registered redirect_uris, of which a private-use scheme has to be exactly " +
		"one": "它不是该应用登记的重定向地址；自定义协议的地址必须与登记的完全一致",
	"it must begin with https://": "地址须以 https:// 开头",
	"it must begin with https://, or with a private-use scheme that is a domain name in reverse: " +
		"com.example.app:/callback": "地址须以 https:// 开头，或使用反写域名的自定义协议，例如 com.example.app:/callback",
	"it is longer than 2,048 bytes":                               "地址超过 2,048 字节",
	"legacy_success_code: %d is neither 0 nor 1":                  "connect.php 的成功代码：%d 不是 0 或 1",
	"dpop: %q is none of %s, %s, %s":                              "令牌绑定密钥：%s 不是 %s、%s 或 %s",
	"mfa: %q is neither off, offered nor required":                "两步验证：%s 不是 off、offered 或 required",
	"name: give the application a name of 1 to 200 bytes":         "名称：请为应用填写 1 到 200 字节的名称",
	"overlap_seconds is from 0 to 2592000, which is 30 days":      "旧密钥继续有效的秒数须在 0 到 2592000（30 天）之间",
	"owner is not the sub of a user: see GET /api/console/users":  "所有者不是用户：请在用户列表中查看",
	"owner: the user is erased: name another one":                 "所有者：该用户已被抹除，请指定另一位",
	"owner: there is no group %q":                                 "所有者：不存在用户组 %s",
	"q and after are texts of up to 1000 bytes":                   "搜索内容最多 1000 字节",
	"secret: %d bytes; at least 32 are needed to sign with HS256": "密钥：%d 字节；使用 HS256 签名至少需要 32 字节",
	"tier: %q is none of free, white_label, enterprise":           "套餐：%s 不是 free、white_label 或 enterprise",
	"tier: the changes are not in the order of time":              "套餐：更改的时间顺序有误",
	"client: %q is neither none nor private_key_jwt":              "智能体：%s 不是 none 或 private_key_jwt",
	"client: an application that nobody registered is public, third-party, and has no owner, domains or " +
		"tiers": "智能体：未经注册的应用是公开的第三方应用，没有所有者、域名和套餐",
	"client: its kind %q does not go with the client_id":                 "智能体：类型 %s 与其 client_id 不符",
	"client: private_key_jwt needs keys, of at most %d bytes":            "智能体：private_key_jwt 需要密钥，最多 %d 字节",
	"client_id: %q is of the form of those that register themselves":     "client_id：%s 是自行注册者的形式",
	"a rule of a bundle is for all of it: leave out tools and read_only": "工具集的规则针对整个工具集：请不要填写工具和只读",

	// Billing and usage.
	"client_id and status are written as they are in an order": "应用和状态须与订单中的写法一致",
	"client_id is missing: name one of your applications":      "请选择您的一个应用",
	"status is written as it is in an order":                   "状态须与订单中的写法一致",
	"%q is not a month such as 2026-11":                        "%s 不是月份，例如 2026-11",
	"the reason has at most 1,000 bytes":                       "理由最多 1,000 字节",
	"until is a day such as 2027-11-21, or a time such as " +
		"2027-11-21T15:00:00Z": "截止时间应为日期，例如 2027-11-21，或时间，例如 2027-11-21T15:00:00Z",
	"from and to are dates such as 2026-11-21, or times such as " +
		"2026-11-21T15:00:00Z": "起止时间应为日期，例如 2026-11-21，或时间，例如 2026-11-21T15:00:00Z",
	"by is app, tool, user or agent for the whole service: name one application with client_id for " +
		"more": "整个服务只能按应用、工具、用户或智能体查看：要看更多请选择一个应用",

	// Users.
	"no such user: see GET /api/console/users for those there are": "没有这个用户：请在用户列表中查看",
	"the user has no grant for this application: see GET " +
		"/api/console/users/{sub}/consents": "该用户没有对此应用的授权：请在其授权列表中查看",
	"the user has no such API key: see GET /api/console/users/{sub}/keys":        "该用户没有这个 API 密钥：请在其密钥列表中查看",
	"the user has no such session: see GET /api/console/users/{sub}/sessions":    "该用户没有这个会话：请在其会话列表中查看",
	"ids are texts such as SUB.ID, with the sub of a user":                       "所选项有误：请重新选择",
	"say whose: user is a sub or a username, client_id an application":           "请指明是谁的：填写用户或应用",
	"user and address are texts of up to 1000 bytes":                             "用户和地址最多 1000 字节",
	"user and client_id are texts of up to 1000 bytes":                           "用户和应用最多 1000 字节",
	"address is an IP address such as 192.0.2.7 or 2001:db8::7":                  "请填写 IP 地址，例如 192.0.2.7 或 2001:db8::7",
	"address: give an email address such as ada@example.com":                     "邮箱：请填写邮箱地址，例如 ada@example.com",
	"days is a number from 1 to %d":                                              "天数须为 1 到 %d",
	"an invitation is open for at most %d days":                                  "邀请最多有效 %d 天",
	"gender: %q is neither male, female nor empty":                               "性别：%s 不是 male、female 或空",
	"nickname is a text of up to 200 bytes without control characters":           "昵称最多 200 字节，不含控制字符",
	"password: a username or an address is no password; choose another one":      "密码：不能用用户名或邮箱作密码，请另选一个",
	"password: give at least 8 characters":                                       "密码：至少 8 个字符",
	"password: give at most 1024 bytes of text":                                  "密码：最多 1024 字节",
	"password: this one is among the first that are guessed; choose another one": "密码：这个密码最容易被猜到，请另选一个",
	"role is admin, auditor or developer":                                        "角色只能是 admin、auditor 或 developer",
	"role: %q is neither admin, developer, auditor nor empty":                    "角色：%s 不是 admin、developer、auditor 或空",
	"username: 1 to 100 bytes of text":                                           "用户名：1 到 100 字节的文本",
	"username %q is taken, or looks like one that is: choose another one":        "用户名 %s 已被使用，或与已有的看起来相同：请另选一个",
	"%s belongs to another user, who signs in by it":                             "%s 属于另一位用户，并用于其登录",
	"a user is erased who is disabled and Erasing":                               "只能抹除已停用且正在抹除的用户",
	"the user is being erased, and is not enabled again: erase them once more to " +
		"finish": "该用户正在被抹除，不能再启用：请再次抹除以完成",
	"the user owns applications or capabilities":                                 "该用户拥有应用或 API",
	"the user owns %d applications and %d capabilities: %s":                      "该用户拥有 %d 个应用和 %d 个 API：请先在各自的页面移交或删除",
	"this is the only administrator who is not disabled: make another one first": "这是唯一未停用的管理员：请先设立另一位",
	"users are not made here: they are where the users come from":                "不能在此创建用户：请到用户来源处创建",

	// Tools and the service.
	"a bundle that is made here names tools of at most %s capabilities":        "在此创建的工具集最多包含 %s 个 API的工具",
	"no such capability: see the list for the names there are":                 "没有这个 API：请在列表中查看名称",
	"no such delivery: it was delivered, or has expired":                       "没有这次投递：它已送达或已过期",
	"no tool is ticked: tick those that you accept":                            "没有勾选工具：请勾选您接受的工具",
	"this capability has no such tool":                                         "该 API 没有这个工具",
	"this capability is not on the bus: publish it, then call its tools":       "该 API 未发布到 MCP 服务器：请先发布，再调用其工具",
	"this delivery waits for its next attempt: there is nothing to send again": "该投递正在等待下一次尝试：没有需要重发的内容",
	"alg is one of ES256, EdDSA and RS256":                                     "算法只能是 ES256、EdDSA 或 RS256",
	"format is jsonl or csv":                                                   "格式只能是 jsonl 或 csv",
	"status is one of 1xx, 2xx, 3xx, 4xx and 5xx":                              "状态只能是 1xx、2xx、3xx、4xx 或 5xx",
}
