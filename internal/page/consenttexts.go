package page

// consentTexts are those of the pages on which users allow applications something, and of what they are told of
// applications.
var consentTexts = map[string]string{
	// Answers to an application that registered itself.
	"The application at %s asked wrongly.":            "位于 %s 的应用发出了错误的请求。",
	"A program on this device, at %s, asked wrongly.": "此设备上的程序（%s）发出了错误的请求。",
	"You did not allow access":                        "您未授权",
	"Nothing was given to the application at %s.":     "未向位于 %s 的应用提供任何内容。",
	"The application at %s wants to go on without asking you. That is not possible until you have signed in for it and " +
		"allowed it here.": "位于 %s 的应用想在不询问您的情况下继续。在您为其登录并在此授权之前，无法这样做。",
	"You have not allowed it anything here, and nobody has checked it. Go there only if you have begun this " +
		"yourself.": "您在此尚未授权该应用，也无人审核过它。仅当这是您本人发起的操作时，才前往该处。",

	// The page of a user whom an application does not admit.
	"You may not use this application":                                                      "您不能使用此应用",
	"You are signed in as %s, who may not use %s.":                                          "您已以 %s 的身份登录，该账户不能使用 %s。",
	"Ask the owner of the application, or an administrator of this service, to let you in.": "请联系应用所有者或本服务的管理员为您开通。",
	"Sign in with another account":                                                          "使用其他账户登录",
	"You are signed in as %s, who may not use %s. The device has been told. Ask the owner of the application, or an " +
		"administrator of this service, to let you in, then begin on the device once " +
		"more.": "您已以 %s 的身份登录，该账户不能使用 %s。设备已获知。请联系应用所有者或本服务的管理员为您开通，然后在设备上重新开始。",

	// The consent page, and what an application may learn.
	"Allow access":                    "授权访问",
	"Allow %s?":                       "允许 %s 访问吗？",
	"The application at %s wants to:": "位于 %s 的应用希望：",
	"A program on this device, at %s, wants to:": "此设备上的程序（%s）希望：",
	"Know that it is you when you come back, with your nickname, your picture and how you signed " +
		"in": "在您再次访问时识别您，并获取您的昵称、头像和登录方式",
	"See your name, username, gender and location":                   "查看您的姓名、用户名、性别和所在地",
	"See your email address":                                         "查看您的电子邮箱地址",
	"See which groups you are in":                                    "查看您所属的用户组",
	"See which groups you are in, at present: %s":                    "查看您所属的用户组，目前为：%s",
	"See which groups you are in, at present %s of them":             "查看您所属的用户组，目前共 %s 个",
	"See which groups you are in, at present none that it learns of": "查看您所属的用户组，目前没有可告知该应用的用户组",

	// Notifications about changes of a user's application.
	"changed":                            "已更改",
	"secret rotated":                     "密钥已更换",
	"application made, its secret shown": "应用已创建，并显示了密钥",
	"application deleted":                "应用已删除",
	"by the operator":                    "由运营者操作",
	"by an administrator":                "由管理员操作",
	"second factors removed":             "两步验证已移除",
	"role is admin now":                  "角色现为管理员",
	"role is developer now":              "角色现为开发者",
	"role is auditor now":                "角色现为审计员",
	"role taken away":                    "角色已取消",
	"disabled":                           "已停用",
	"enabled":                            "已启用",
	"signed out":                         "已退出登录",
	"signed out everywhere":              "已在所有设备退出登录",
	"password changed, and signed out everywhere": "密码已更改，并已在所有设备退出登录",
	"access of an application removed":            "应用的访问权限已移除",
	"account erased":                              "账户已删除",
	"what is stored about you was exported":       "您的存储数据已导出",

	"Use tools on your behalf: all that you may use " +
		"here": "代表您使用工具：您在此可用的全部工具",
	"Use the tools of %s on your behalf": "代表您使用 %s 的工具",
	"Use the tools of the bundle %s on your behalf": "代表您使用工具组合 %s " +
		"中的工具",
	"Manage your applications for one hour: see, change and delete them, and get new secrets for " +
		"them": "在一小时内管理您的应用：查看、修改、删除应用，并获取新的密钥",
	"Use tools on your behalf: only those that change " +
		"nothing": "代表您使用工具：仅限不做任何更改的工具",
	"Use the tool %s of %s on your behalf": "代表您使用工具 %s（属于 " +
		"%s）",
	"Allow":                        "允许",
	"Do not allow":                 "不允许",
	"Not you? Use another account": "不是您？使用其他账户",
	"Whatever you answer, you will be sent back to %s.": "无论您如何选择，都将返回 %s。",

	// The same, of an application that nobody registered here.
	"Allow this application?": "允许此应用访问吗？",
	"Nobody has registered this application here. What you see is what its own site says about " +
		"it.": "此应用未在本服务登记。以下信息来自其自己的网站。",
	"This application registered itself here, and nobody has checked it. Anybody can choose any " +
		"name.": "此应用是自行注册的，未经任何人核实。名称可以随意填写。",
	"Comes from":                "来自",
	"%s says that it is":        "%s 称其为",
	"Calls itself":              "自称",
	"not verified":              "未经核实",
	"Your browser goes next to": "浏览器接下来将前往",
	"a program on this device":  "此设备上的程序",
	"This application has changed since you allowed " +
		"it.": "自您上次允许后，此应用已发生变化。",
	"Its name, its keys or the addresses that it sends you to are others now. Look once more whether you want to allow " +
		"it.": "它的名称、密钥或返回地址已与之前不同。请重新确认是否允许。",
	"Did you start this yourself just now, on this " +
		"device?": "这是您本人刚刚在此设备上发起的吗？",
	"Your answer goes to a program on this device, and we cannot see which one. If a message or another person sent you " +
		"here, do not allow it.": "您的选择将发送给此设备上的某个程序，而我们无法识别是哪一个。如果是他人或某条消息让您打开此页面，请不要允许。",
	"It asks for this:": "它请求以下权限：",

	// The choice among tools.
	"There is no tool here that you may use, at present.":   "目前没有您可以使用的工具。",
	"These are %s tools: show them":                         "共 %s 个工具：查看",
	"Which tools may it use?":                               "允许它使用哪些工具？",
	"A tool is one thing that it can do here in your name.": "一个工具就是它能在此以您的名义做的一件事。",
	"All that it asks for":                                  "它请求的全部工具",
	"%s tools at present, and those that are added":         "目前 %s 个，包括以后新增的",
	"Only tools that change nothing":                        "仅限不做任何更改的工具",
	"%s tools at present: they read and look things up":     "目前 %s 个：只读取和查询信息",
	"Only what I tick":                                      "仅限我勾选的",
	"Bundles of tools":                                      "工具组合",
	"All tools of %s":                                       "%s 的全部工具",
	"Single tools of %s":                                    "%s 的单个工具",
	"changes nothing":                                       "不做更改",
	"and %s more":                                           "另有 %s 个",
	"There are %s more groups of tools. It can use them only if you allow all, or a bundle that holds " +
		"them.": "还有 %s 组工具。只有允许全部，或允许包含它们的组合时，它才能使用。",
	"You ticked single tools, but chose others above. Choose once more which ones you " +
		"mean.": "您勾选了单个工具，但在上方选择了其他选项。请重新选择。",
	"You ticked nothing. Tick what it may use, or choose not to allow " +
		"it.": "您没有勾选任何内容。请勾选允许它使用的工具，或选择不允许。",
	"You ticked too much to be kept. Tick whole capabilities or bundles, 24 at " +
		"most.": "勾选的内容过多。请勾选整组工具或工具组合，最多 24 项。",
	"It stays signed in until you sign it out, or until it has not been used for %s days. You can sign it out at any " +
		"time:": "它将保持登录状态，直到您将其退出登录，或连续 %s 天未使用。您可以随时将其退出登录：",
	"Whatever you answer, your browser goes on to a program on this " +
		"device.": "无论您如何选择，浏览器都将转到此设备上的程序。",
}
