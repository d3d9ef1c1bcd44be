package page

// chinese is the one table of messages: the English text as it is written where it is
// used, and how zh-CN says it. A %s stays a %s.
var chinese = map[string]string{
	// The frame and the pages of what cannot go on.
	"Secured by Keystile": "由 Keystile 提供安全登录",
	"Status %s":           "状态码 %s",

	"This request cannot go on":                    "此请求无法继续",
	"There is no such page":                        "页面不存在",
	"Check the address.":                           "请检查网址。",
	"client_id is not that of an application here": "client_id 不属于在此注册的应用",
	"this application is disabled":                 "该应用已被停用",
	"this application comes from a host that is not on the list of this service: use another application, or ask the " +
		"operator of this service to trust its host": "该应用所在的主机不在本服务的名单上：请使用其他应用，或请本服务的运营者信任该主机",
	"the operator of this service does not admit applications from this host: use another application, or ask the " +
		"operator": "本服务的运营者不接受来自该主机的应用：请使用其他应用，或联系运营者",
	"client_id is the URL of a document, and applications that are not registered here are not admitted: ask the " +
		"operator of this service to register it": "client_id 是一个文档的网址，而本服务不接受未在此注册的应用：请联系本服务的运营者注册该应用",
	"too many applications are looked up for your network at this moment: wait before you try " +
		"again.": "此刻为您所在网络查询的应用过多：请稍候再试。",
	"this application cannot be used here because of what its own document says: tell who makes " +
		"it": "由于该应用自身文档的内容，无法在此使用它：请告知其开发者",
	"this application could not be looked up: try again in a " +
		"minute": "无法查询该应用：请一分钟后重试",
	"redirect_uri is not allowed": "redirect_uri 不被允许",
	"this form of another site is too long: send at most 16 KiB, or the same by GET": "来自其他网站的此表单过长：请发送不超过 16 KiB " +
		"的内容，或改用 GET",

	"Try again in a second.":   "请在一秒后重试。",
	"Try again in %s seconds.": "请在 %s 秒后重试。",
	"Try again in %s minutes.": "请在 %s 分钟后重试。",
	"Try again in %s hours.":   "请在 %s 小时后重试。",

	// Answers to an application that registered itself.
	"The application at %s asked wrongly.":            "位于 %s 的应用发出了错误的请求。",
	"A program on this device, at %s, asked wrongly.": "此设备上的程序（%s）发出了错误的请求。",
	"You did not allow access":                        "您未授权",
	"Nothing was given to the application at %s.":     "未向位于 %s 的应用提供任何内容。",
	"The application at %s wants to go on without asking you. That is not possible until you have signed in for it and " +
		"allowed it here.": "位于 %s 的应用想在不询问您的情况下继续。在您为其登录并在此授权之前，无法这样做。",
	"You have not allowed it anything here, and nobody has checked it. Go there only if you have begun this " +
		"yourself.": "您在此尚未授权该应用，也无人审核过它。仅当这是您本人发起的操作时，才前往该处。",

	// The sign-in page.
	"Sign in":        "登录",
	"Sign in to %s":  "登录 %s",
	"Sign-in failed": "登录失败",
	"The application asks for the person who was signed in to it before: sign in as that " +
		"person.": "应用要求由之前登录过它的人登录：请以该用户的身份登录。",
	"Username":                "用户名",
	"Password":                "密码",
	"You will continue to %s": "登录后将前往 %s",
	"The username or the password is not right. Check both and try again.": "用户名或密码不正确。请检查后重试。",
	"Type in your username and your password.":                             "请输入用户名和密码。",
	"Type in your current password.":                                       "请输入当前密码。",

	// Other ways in.
	"Other ways to sign in": "其他登录方式",

	// Signing in by a code on the screen: the page that shows it.
	"Scan with your phone":                                                           "用手机扫码登录",
	"Sign in with your phone":                                                        "用手机扫码登录",
	"Sign in to %s with your phone":                                                  "用手机扫码登录 %s",
	"Point the camera of your phone at this code and open the link.":                 "用手机相机对准此二维码，并打开链接。",
	"Sign in on the phone, if you are not signed in there yet.":                      "如果手机上尚未登录，请先在手机上登录。",
	"Confirm on the phone, if both show the same number.":                            "如果两台设备显示的数字相同，请在手机上确认。",
	"A code to scan with the camera of your phone":                                   "供手机相机扫描的二维码",
	"Waiting for your phone":                                                         "正在等待手机扫码",
	"Scanned. Now confirm on your phone.":                                            "已扫码。请在手机上确认。",
	"Confirmed. You are being signed in.":                                            "已确认，正在登录。",
	"This code is too old.":                                                          "此二维码已过期。",
	"The sign-in was rejected on the phone.":                                         "已在手机上拒绝此次登录。",
	"I have scanned the code: continue":                                              "我已扫码，继续",
	"Scanned. Your phone shows the number %s. Confirm there only if it is the same.": "已扫码。手机上显示的数字是 %s，只有数字相同时才在手机上确认。",
	"You have not confirmed on your phone yet. It shows the number %s. Confirm there only if it is the same, then " +
		"continue here.": "您尚未在手机上确认。手机上显示的数字是 %s，只有数字相同时才在手机上确认，然后在此继续。",
	"Do both devices show the number %s?": "两台设备显示的数字都是 %s 吗？",
	"Get a new code":                      "获取新的二维码",
	"You have not confirmed on your phone yet. Scan the code, confirm there, then continue " +
		"here.": "您尚未在手机上确认。请扫描二维码并在手机上确认，然后在此继续。",
	"This code has been used or is too old. Get a new " +
		"one.": "此二维码已被使用或已过期。请获取新的二维码。",
	"Whoever confirmed this sign-in has signed out on the phone since, or may not sign in any more. Get a new code and " +
		"try again.": "确认此次登录的用户已在手机上退出登录，或已不能登录。请获取新的二维码后重试。",
	"Your network has asked for too many codes. Wait a minute, then try " +
		"again.": "您所在的网络获取二维码的次数过多。请等待一分钟后重试。",

	// The same on the phone.
	"Sign in on another device?": "要在另一台设备上登录吗？",
	"Sign in on this phone first. Then you can confirm the sign-in on the other device.": "请先在此手机上登录，然后即可确认另一台设备上的登录。",
	"Someone at %s with %s wants to sign in as you.":                                     "有人在 %s 使用 %s 请求以您的身份登录。",
	"an unknown address":       "未知地址",
	"an unknown browser":       "未知浏览器",
	"an unknown browser on %s": "%s 上的未知浏览器",
	"%s on %s":                 "%s（%s）",
	"Application":              "应用",
	"Its website":              "应用网站",
	"This signs in another device, not this phone. Confirm only if the code is on a screen in front of you. If somebody " +
		"has sent it to you, reject it.": "此操作将登录另一台设备，而不是这部手机。仅当二维码显示在您面前的屏幕上时才确认；如果是别人发给您的，请拒绝。",
	"Confirm":            "确认",
	"Reject":             "拒绝",
	"You have confirmed": "已确认",
	"The other device is being signed in. You can close this page.": "另一台设备正在登录。您可以关闭此页面。",
	"You have rejected it":                           "已拒绝",
	"Nobody was signed in. You can close this page.": "未登录任何设备。您可以关闭此页面。",
	"This code has been used or is too old. Get a new one on the other device and scan " +
		"that.": "此二维码已被使用或已过期。请在另一台设备上获取新的二维码并扫描。",
	"Somebody else has scanned this code before. Get a new one on the other device and scan " +
		"that.": "此二维码已被其他人扫描。请在另一台设备上获取新的二维码并扫描。",
	"The form says neither yes nor no. Scan the code again and use the buttons on the " +
		"page.": "您没有选择确认或拒绝。请重新扫描二维码，并使用页面上的按钮。",

	// Other providers.
	"Sign in with WeChat":   "使用微信登录",
	"Sign in with QQ":       "使用 QQ 登录",
	"Sign in with Alipay":   "使用支付宝登录",
	"Sign in with Douyin":   "使用抖音登录",
	"Link WeChat":           "绑定微信",
	"Link QQ":               "绑定 QQ",
	"Link Alipay":           "绑定支付宝",
	"Link Douyin":           "绑定抖音",
	"Sign in with Feishu":   "使用飞书登录",
	"Sign in with WeCom":    "使用企业微信登录",
	"Sign in with DingTalk": "使用钉钉登录",
	"Link Feishu":           "绑定飞书",
	"Link WeCom":            "绑定企业微信",
	"Link DingTalk":         "绑定钉钉",
	"Show password":         "显示密码",
	"Sign in with %s":       "使用 %s 登录",
	"Link %s":               "绑定 %s",
	"This sign-in was begun in another browser, or too long ago. Begin " +
		"again.": "此次登录是在其他浏览器中开始的，或已超时。请重新开始。",
	"This provider does not say that you have just signed in there, so it cannot confirm that it is you. Choose another " +
		"way.": "该第三方平台未说明您是否刚刚登录，因此无法确认是您本人。请选择其他方式。",
	"You have not allowed it there, so you are not signed in. Try again, or choose another " +
		"way.": "您没有在第三方平台授权，因此未登录。请重试，或选择其他方式。",
	"The provider does not know this sign-in any more. Begin " +
		"again.": "第三方平台已无法识别此次登录。请重新开始。",
	"The provider cannot say who you are at the moment. Try again shortly, or choose another " +
		"way.": "第三方平台暂时无法确认您的身份。请稍后重试，或选择其他方式。",
	"Only members of the organization can sign in this way, and the provider does not count you among them. Choose " +
		"another way, or ask whoever runs this service.": "只有组织成员才能以此方式登录，而第三方平台未将您识别为成员。请选择其他方式，或联系管理员。",
	"You cannot sign in here in this way. Choose another way, or ask whoever runs this " +
		"service.": "您无法以此方式登录。请选择其他方式，或联系管理员。",
	"Somebody else has signed in here meanwhile. Open your account page and begin " +
		"again.": "在此期间有其他人在此登录。请打开账户页面，重新开始。",
	"This is how somebody else signs in here already. Sign in as them and unlink it there " +
		"first.": "此登录方式已属于其他账户。请先登录该账户并解除绑定。",

	// The locked page.
	"Too many attempts": "尝试次数过多",
	"There were too many failed attempts for this account. Try again in %s seconds, or in a browser that you have " +
		"signed in with before.": "此账户登录失败次数过多。请在 %s 秒后重试，或使用之前登录过的浏览器。",
	"There were too many failed attempts from your network. Wait a minute, then sign in " +
		"again.": "您所在的网络登录失败次数过多。请等待一分钟后重新登录。",
	"There were too many failed attempts from your network. Wait %s minutes, then sign in " +
		"again.": "您所在的网络登录失败次数过多。请等待 %s 分钟后重新登录。",
	"There are too many attempts from your network at once. Wait a few seconds, then try " +
		"again.": "您所在的网络同时尝试登录的次数过多。请稍等几秒后重试。",
	"Back to sign-in": "返回登录",

	// The page of a signed-in user.
	"You are signed in": "您已登录",
	"Sign out":          "退出登录",

	// The consent page, and what an application may learn.
	"Allow access":                    "授权访问",
	"Allow %s?":                       "允许 %s 访问吗？",
	"The application at %s wants to:": "位于 %s 的应用希望：",
	"A program on this device, at %s, wants to:": "此设备上的程序（%s）希望：",
	"Know that it is you when you come back, with your nickname, your picture and how you signed " +
		"in": "在您再次访问时识别您，并获取您的昵称、头像和登录方式",
	"See your name, username, gender and location": "查看您的姓名、用户名、性别和所在地",
	"See your email address":                       "查看您的电子邮箱地址",
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

	// The account page.
	"An application without a site of its own":                       "没有自己网站的应用",
	"Nobody registered it here: what is said of it, it says itself.": "未在本服务登记：以上信息均由其自称。",
	"It registered itself here, and nobody has checked it.":          "自行注册，未经任何人核实。",
	"Sign out this agent":     "将此智能体退出登录",
	"Your account":            "您的账户",
	"Where you are signed in": "已登录的设备",
	"This one":                "当前设备",
	"Sign out everywhere":     "退出所有设备",
	"This signs out every browser, this one too, and every application you have signed in " +
		"to.": "这将使所有浏览器（包括当前浏览器）以及您登录过的所有应用退出登录。",
	"Connected applications":      "已连接的应用",
	"You have signed in to it.":   "您登录过此应用。",
	"Remove access":               "移除访问权限",
	"None yet.":                   "暂无。",
	"Ways to sign in":             "登录方式",
	"Unlink":                      "解除绑定",
	"Link another way to sign in": "绑定其他登录方式",
	"Username and password":       "用户名和密码",
	"Email":                       "电子邮箱",
	"WeChat":                      "微信",
	"Alipay":                      "支付宝",
	"Douyin":                      "抖音",
	"Feishu":                      "飞书",
	"WeCom":                       "企业微信",
	"DingTalk":                    "钉钉",
	"Sign in once more, so that we know it is you. Then do again what you wanted to " +
		"do.": "请再次登录以确认是您本人，然后重新进行刚才的操作。",
	"This is the only way you can sign in. Link another one first, then unlink this " +
		"one.": "这是您唯一的登录方式。请先绑定其他方式，再解除此绑定。",
	"Your username stays yours as long as you have the account, so it cannot be " +
		"unlinked.": "用户名在账户存续期间始终属于您，因此无法解除绑定。",
	"It is done, but it could not be written down. Go back to your account and see that it " +
		"is.": "操作已完成，但未能记录。请返回您的账户进行确认。",
	"You are signed out here, but applications may not be yet. Sign in again and sign out everywhere once " +
		"more.": "您已在此退出登录，但各应用可能尚未退出。请重新登录并再次选择退出所有设备。",
	// API keys.
	"API keys":         "API 密钥",
	"Your keys":        "您的密钥",
	"Your new API key": "您的新 API 密钥",
	"A key lets a program of yours act as you, without signing in. Give it to nobody.": "密钥让您的程序无需登录即可代表您操作。请勿交给任何人。",
	"Made %s":         "创建于 %s",
	"Valid until %s":  "有效期至 %s",
	"Last used on %s": "最近使用：%s",
	"Not used yet":    "尚未使用",
	"Revoke":          "吊销",
	"Make a key":      "创建密钥",
	"Make the key":    "创建",
	"You have %s keys, and there may be no more. Revoke one that is not needed " +
		"first.": "您已有 %s 个密钥，已达上限。请先吊销不再需要的密钥。",
	"You have as many keys as there may be. Revoke one that is not needed, then make this " +
		"one.": "您的密钥数量已达上限。请先吊销不再需要的密钥，再创建新的。",
	"To make a key, sign in once more, so that we know it is you. Then come back " +
		"here.": "创建密钥前，请再次登录以确认是您本人，然后回到此页。",
	"Name": "名称",
	"What it is for, such as the program that will use it.": "用途，例如将使用它的程序。",
	"What may it do?":                    "它可以做什么？",
	"All tools that you may use":         "您可用的全部工具",
	"Tools that read and change nothing": "仅限只读、不做任何更改的工具",
	"Only the tools that you name here":  "仅限您在此指定的工具",
	"Tools":                              "工具",
	"A capability, a single tool of it, or b: and the name of a bundle; several with commas.": "能力名称、其中的单个工具，或 b: " +
		"加工具组合的名称；多个以逗号分隔。",
	"Also tell who you are": "同时告知您的身份",
	"Your name, username, gender and location, and your email address": "您的姓名、用户名、性别、所在地以及电子邮箱地址",
	"Your name, username, gender and location":                         "您的姓名、用户名、性别和所在地",
	"Your email address":         "您的电子邮箱地址",
	"The tools of %s":            "%s 的工具",
	"The tools of the bundle %s": "工具组合 %s 中的工具",
	"The tool %s":                "工具 %s",
	"Days until it ends":         "有效天数",
	"Copy it now: it is shown this once, and we do not keep it.":            "请立即复制：密钥仅显示这一次，我们不会保存。",
	"Programs send it in the header Authorization, behind the word Bearer.": "程序在请求头 Authorization 中发送，置于 Bearer 之后。",
	"It opens":   "可使用",
	"It ends on": "失效日期",
	"Whoever has it can act as you. If it gets into the wrong hands, revoke it on the page of your " +
		"keys.": "持有者可以代表您操作。如果落入他人之手，请在密钥页面吊销它。",
	"Give the key a name, such as the program that will use it. It has 100 letters at most, and fewer if they are " +
		"Chinese.": "请为密钥命名，例如将使用它的程序。名称最多 100 个字母，或约 33 个汉字。",
	"Name the tools that the key is for, such as shop, shop/getPet or " +
		"b:support.": "请指定密钥可用的工具，例如 shop、shop/getPet 或 b:support。",
	"Choose what the key may do.":       "请选择密钥可以做什么。",
	"A key is valid for 1 to 365 days.": "密钥有效期为 1 至 365 天。",
	"API key made":                      "已创建 API 密钥",
	"API key revoked":                   "已吊销 API 密钥",
	// Second factors.
	"Two-step sign-in": "两步验证",
	"After your password, or however you sign in, a second factor proves that it is you.": "在密码或其他登录方式之后，再用第二步验证确认是您本人。",
	"A second factor is required of you. You can sign in without one until %s.":           "您需要开启两步验证。在 %s 之前仍可不经两步验证登录。",
	"Authenticator app":            "身份验证器应用",
	"Set up":                       "已设置",
	"Remove the authenticator app": "移除身份验证器应用",
	"Remove":                       "移除",
	"Set it up on another phone":   "换到另一部手机",
	"An app on your phone shows a new code every 30 seconds, without a network.": "手机上的应用每 30 秒显示一个新的验证码，无需联网。",
	"It is not offered to you here.":                                             "此处未向您开放该功能。",
	"Set up an authenticator app":                                                "设置身份验证器应用",
	"Passkeys":                                                                   "通行密钥",
	"You have %s.":                                                               "您有 %s 个。",
	"Recovery codes":                                                             "恢复码",
	"If your phone is lost, a recovery code takes its place, once.":          "手机丢失时，可用恢复码代替，每个只能用一次。",
	"Only %s are left. Make new ones before you need them.":                  "仅剩 %s 个。请提前生成新的恢复码。",
	"You have none. Make some now: without them a lost phone locks you out.": "您没有恢复码。请立即生成，否则手机丢失后将无法登录。",
	"%s are left.":            "还剩 %s 个。",
	"Make new recovery codes": "生成新的恢复码",
	"The old ones end then.":  "旧的恢复码将随之失效。",
	"Trusted browsers":        "受信任的浏览器",
	"Where you have chosen not to be asked again, you can be asked again.": "对于您选择不再询问的浏览器，可以恢复询问。",
	"Ask in every browser again": "在所有浏览器中重新询问",
	"Change something":           "进行更改",
	"To change something here, sign in once more, so that we know it is " +
		"you.": "如需更改，请再次登录以确认是您本人。",
	"A second factor is required here. Set it up now, and your sign-in goes " +
		"on.": "此处需要两步验证。请立即设置，随后继续登录。",
	"It takes the place of the app that you have, whose codes " +
		"end.": "它将取代您现有的应用，原有验证码随即失效。",
	"Open an authenticator app on your phone, and let it add an " +
		"account.": "在手机上打开身份验证器应用，选择添加账户。",
	"Scan this code with it, or type in the key " +
		"below.": "用它扫描此二维码，或输入下方的密钥。",
	"Type in the six digits that it " +
		"shows.": "输入它显示的六位数字。",
	"The key, if you cannot scan:": "无法扫描时，请输入密钥：",
	"QR code for your authenticator " +
		"app": "供身份验证器应用扫描的二维码",
	"Type in the code that the app " +
		"shows.": "请输入应用显示的验证码。",
	"The code is not right. Check that the clock of your phone is, and type in the code that the app shows " +
		"now.": "验证码不正确。请确认手机时间准确，并输入应用当前显示的验证码。",
	"Another app was set up meanwhile, so this one was not. Remove it from your phone if it is of no " +
		"use.": "其间已设置了另一个应用，因此本次未生效。如不再需要，请将其从手机中删除。",
	"A second factor was set up meanwhile. Sign in again and use " +
		"it.": "其间已设置了第二步验证。请重新登录并使用它。",
	"Sign in once more, so that we know it is you. Then set up your second " +
		"factor.": "请再次登录以确认是您本人，然后设置两步验证。",
	"A second factor is required of you, and this is your only one. For another phone, set up its app instead: it takes " +
		"the place of this one.": "您需要保持两步验证，而这是您唯一的方式。如需更换手机，请直接在新手机上设置，它会取代现有的应用。",
	"Your recovery codes": "您的恢复码",
	"Print them, or copy them to a safe place: they are shown this once, and we do not keep " +
		"them.": "请打印，或复制到安全的地方：恢复码仅显示这一次，我们不会保存。",
	"Each signs you in once, if your phone is lost:": "手机丢失时，每个恢复码可登录一次：",
	"Whoever has one and your password can sign in as you. Keep them " +
		"apart.": "他人若同时持有恢复码和您的密码，即可以您的身份登录。请分开保管。",
	"I have kept them: continue": "我已保存，继续",
	"Set up a second factor":     "设置两步验证",
	"From %s on, your sign-in takes a second factor, such as the code of an app on your phone. It is set up in two " +
		"minutes.": "自 %s 起，您登录时需要第二步验证，例如手机应用中的验证码。设置只需两分钟。",
	"Set up now": "立即设置",
	"Later":      "以后再说",
	"An authenticator app was set up for your sign-in.":      "您的登录已设置身份验证器应用。",
	"The authenticator app was removed.":                     "身份验证器应用已移除。",
	"New recovery codes were made; the old ones have ended.": "已生成新的恢复码，旧的已失效。",
	"Every browser is asked for the second factor again.":    "所有浏览器都将重新要求第二步验证。",
	// Signing in by mail, confirming an address, setting a new password.
	"Sign in with email": "使用邮箱登录",
	"We send a code to your address. You need no password.": "我们会向您的邮箱发送验证码，无需密码。",
	"Email address": "邮箱地址",
	"Send the code": "发送验证码",
	"Back":          "返回",
	"This is not an email address. Check it for mistakes; it looks like name@example.com.": "邮箱地址格式不正确。请检查，格式如 " +
		"name@example.com。",
	"Type in the code": "输入验证码",
	"If this address can be used here, a code of six digits is on its way to it. It is valid for 10 " +
		"minutes.": "如果此邮箱可在此使用，您将收到一个六位数字的验证码，10 分钟内有效。",
	"Code":            "验证码",
	"New password":    "新密码",
	"Send a new code": "重新发送验证码",
	"At least 8 characters. A few words in a row are hard to guess and easy to " +
		"remember.": "至少 8 个字符。由几个词语组成的密码不易被猜到，又便于记忆。",
	"The code has six digits. You will find it in the email.": "验证码为六位数字，请查看邮件。",
	"The code is not right. Check it and try again.":          "验证码不正确。请检查后重试。",
	"This code has ended":                                     "验证码已失效",
	"A code works once, for 10 minutes, for five tries and in the browser that asked for it. Ask for a new " +
		"one.": "验证码只能使用一次，10 分钟内有效，最多可尝试五次，且只能在获取它的浏览器中使用。请重新获取。",
	"Ask for a new code": "重新获取验证码",
	"A code was asked for a moment ago. Look for it in your mail, also among spam, or ask again in %s " +
		"seconds.": "刚刚已获取过验证码。请查看邮箱（包括垃圾邮件），或在 %s 秒后重试。",
	"Too many codes were asked for. Ask again in %s " +
		"minutes.": "获取验证码的次数过多。请在 %s 分钟后重试。",
	"You have few recovery codes left. Make new ones before you need " +
		"them.": "您的恢复码所剩不多，请在需要之前生成新的恢复码。",
	"Since %s":               "自 %s 起",
	"Passkey":                "通行密钥",
	"Your passkeys":          "您的通行密钥",
	"Add a passkey":          "添加通行密钥",
	"Use a passkey":          "使用通行密钥",
	"Sign in with a passkey": "使用通行密钥登录",
	"A passkey signs you in with your device in place of a password: with a finger, your face or a PIN. It works on " +
		"this site alone, so nobody can trick you out of it.": "通行密钥让您用自己的设备代替密码登录：用指纹、面容或 PIN 码确认即可。它只在本网站有效，不会被骗走。",
	"Added %s":                  "添加于 %s",
	"Synced among your devices": "在您的设备间同步",
	"On one device":             "仅在一台设备上",
	"Rename":                    "重命名",
	"To change your passkeys, sign in once more, so that we know it is you. Then come back " +
		"here.": "要更改通行密钥，请再登录一次，以便我们确认是您本人，然后回到此页。",
	"You have %s passkeys, and there may be no more. Remove one that is not needed " +
		"first.": "您已有 %s 个通行密钥，已达上限。请先移除不再需要的。",
	"Where it is, such as your phone or the key on your key " +
		"ring.": "它在哪里，例如您的手机或钥匙扣上的安全密钥。",
	"There was no passkey. Try again, or use another " +
		"device.": "没有得到通行密钥。请重试，或换一台设备。",
	"There was no passkey. Try again, or sign in another " +
		"way.": "没有得到通行密钥。请重试，或用其他方式登录。",
	"This browser cannot make passkeys, or runs no " +
		"scripts.": "此浏览器无法创建通行密钥，或未启用脚本。",
	"This browser cannot use your passkeys, or runs no " +
		"scripts.": "此浏览器无法使用您的通行密钥，或未启用脚本。",
	"This takes a passkey, and you have none here. Sign in on your account page, add one, then try " +
		"again.": "此操作需要通行密钥，而您在这里还没有。请登录您的账户页添加一个，然后重试。",
	"Give the passkey a name. It has 100 letters at most, and fewer if they are " +
		"Chinese.": "请为通行密钥命名，最多 33 个汉字。",
	"The passkey could not be added. Try " +
		"again.": "无法添加通行密钥，请重试。",
	"This passkey is there already, or you have as many as there may " +
		"be.": "该通行密钥已存在，或数量已达上限。",
	"Your passkey is kept in another way than when you added it; perhaps it is synced now. Sign in another way, remove " +
		"it and add it again.": "此通行密钥的保存方式与添加时不同，可能已同步到其他设备。请用其他方式登录，然后删除并重新添加。",
	"Your browser sends two cookies named open_sso_token, so you would not stay signed in: another site of the same " +
		"domain has set one. Delete the cookies of this domain in the settings of your browser, and then sign " +
		"in.": "您的浏览器发送了两个名为 open_sso_token 的 Cookie，因此无法保持登录：同一域名下的另一个网站设置了其中一个。请在浏览器设置中删除该域名的 Cookie，然后再登录。",
	"The passkey was not accepted. Try " +
		"again.": "通行密钥未被接受，请重试。",
	"The passkey was not accepted. Try again, or sign in another " +
		"way.": "通行密钥未被接受。请重试，或用其他方式登录。",
	"A second factor is required of you, and this is your only one. Add another one " +
		"first.": "您必须使用第二步验证，而这是唯一的一种。请先添加另一种。",
	"One of your passkeys may have been copied. If you have not restored a device, remove it and add a new " +
		"one.": "您的一个通行密钥可能被复制了。如果您没有恢复过设备，请移除它并添加新的。",
	"Passkey added":          "已添加通行密钥",
	"Passkey renamed":        "已重命名通行密钥",
	"Passkey removed":        "已移除通行密钥",
	"Confirm that it is you": "确认是您本人",
	"Changes need a sign-in of the last ten minutes. What you typed is " +
		"kept.": "更改需要在最近十分钟内登录过。您填写的内容已保留。",
	"Changes need a sign-in of the last ten minutes. What you typed could not be kept: go back in your browser " +
		"afterwards, and send it once more.": "更改需要在最近十分钟内登录过。您填写的内容未能保留：确认后请在浏览器中返回，并重新提交。",
	"A trusted browser is spared your second factor only where you sign in to an application. This page takes " +
		"it.": "受信任的浏览器只在登录应用时免除第二步验证，此页面需要验证。",
	"Your form goes on": "继续提交您的表单",
	"Nothing is done yet. If somebody else has sent this while you were away, do not " +
		"continue.": "尚未进行任何更改。如果这是他人在您离开时提交的，请不要继续。",
	"Do not do this":              "不要这样做",
	"Details":                     "详情",
	"(not shown)":                 "（不显示）",
	"Allow an application":        "授权应用",
	"Make an API key":             "创建 API 密钥",
	"Unlink a way to sign in":     "解除一种登录方式",
	"Forget the trusted browsers": "清除受信任的浏览器",
	"Rename a passkey":            "重命名通行密钥",
	"Remove a passkey":            "移除通行密钥",
	"name":                        "名称",
	"what":                        "范围",
	"days":                        "天数",
	"address":                     "地址",
	"method":                      "方式",
	"passkey":                     "通行密钥",
	"current":                     "当前密码",
	"confirm":                     "确认",
	"What you typed was kept for ten minutes, for you and in the browser that you typed it in, and is not here. Nothing " +
		"was done. Open the page and fill in the form once more.": "您填写的内容只为您本人、在您填写时使用的浏览器中保留十分钟，这里没有。未进行任何更改。请打开页面重新填写。",
	"Code of your authenticator app":                                           "身份验证器应用中的验证码",
	"For 30 days, do not ask in this browser when I sign in to an application": "30 天内在此浏览器中登录应用时不再询问",
	"Use a recovery code":                                                      "使用恢复码",
	"Recovery code":                                                            "恢复码",
	"Each code works once. You got them when you set this up.":                 "每个恢复码只能用一次。设置时已显示给您。",
	"Type in a code.":                                                          "请输入验证码。",
	"A recovery code was used to sign in.":                                     "有人使用恢复码登录了您的账户。",
	"Confirm an email address":                                                 "验证邮箱地址",
	"Somebody knows how you sign in, and typed wrong codes of your second factor. If it was not you, change your " +
		"password. Wrong codes so far": "有人通过了您的第一步登录，并输入了错误的第二步验证码。如果不是您本人，请修改密码。错误次数",
	"Somebody typed wrong codes of your second factor. Those of your app rest until you use a recovery code or a " +
		"passkey, or a code by email first. Wrong codes so " +
		"far": "有人多次输入错误的第二步验证码。应用验证码已暂停使用，直到您使用恢复码、通行密钥，或先通过邮件验证码登录。错误次数",
	"Somebody typed so many wrong codes of your second factor that no code is taken any more. Ask the operator to let " +
		"you in. Wrong codes so far": "错误的第二步验证码过多，已不再接受任何验证码。请联系管理员。错误次数",
	"So many wrong codes were typed for this account that none is taken any more. Ask the operator of this service to " +
		"let you in.": "此账户的错误验证码过多，已不再接受任何验证码。请联系本服务的管理员。",
	"Too many wrong codes were typed for this account, so those of the authenticator app are not taken here now. If it " +
		"was not you, change your password once you are in.": "此账户的错误验证码过多，目前不接受身份验证器应用的验证码。如果不是您本人所为，请在登录后修改密码。",
	"After a sign-in with a code by email they " +
		"are.": "先通过邮件验证码登录，之后即可使用应用验证码。",
	"Use a recovery code or a passkey, or ask the operator of this service to let you " +
		"in.": "请使用恢复码或通行密钥，或联系本服务的管理员。",
	"With it you can sign in, and set a new password if you forget " +
		"yours.": "验证后可用邮箱登录，忘记密码时也可以重新设置。",
	"This email address belongs to another account here. Sign in with it, or give another " +
		"address.": "该邮箱地址属于另一个账户。请使用该邮箱登录，或填写其他地址。",
	"You cannot sign in with this email address. Ask the operator " +
		"why.": "无法使用此邮箱地址登录。请向管理员询问原因。",
	"Forgotten your password?": "忘记密码？",
	"Set a new password":       "设置新密码",
	"Give the email address you have confirmed here. We send a code to it.": "请填写您在此验证过的邮箱地址，我们会向该邮箱发送验证码。",
	"Save the new password": "保存新密码",

	// Texts of the emails.
	"Your code to sign in":            "您的登录验证码",
	"Your code to set a new password": "您的重置密码验证码",
	"Confirm your email address":      "请验证您的邮箱地址",
	"Your code is %s":                 "您的验证码是 %s",
	"It is valid for 10 minutes and works once. Type it in only at %s, on the page where you asked for it, and tell it " +
		"to nobody.": "验证码 10 分钟内有效，只能使用一次。请仅在 %s 上获取验证码的页面输入，不要告诉任何人。",
	"If you did not ask for it, somebody may have mistaken your address for theirs. You need do " +
		"nothing.": "如果不是您本人获取的，可能是他人误填了您的邮箱地址，您无需进行任何操作。",

	// Mails about what was done.
	"New sign-in at %s": "%s 上的新登录",
	"Somebody signed in as you at %s in a browser that you had not signed in with " +
		"before.": "有人在 %s 以您的身份登录，使用的是您此前未登录过的浏览器。",
	"A way to sign in was changed at %s":                               "您在 %s 的登录方式已更改",
	"A way to sign in to your account at %s was added or removed.":     "您在 %s 的账户新增或移除了一种登录方式。",
	"Your account at %s was changed":                                   "您在 %s 的账户已更改",
	"Your account at %s was changed.":                                  "您在 %s 的账户已更改。",
	"A secret of your application at %s":                               "您在 %s 的应用密钥",
	"A secret of one of your applications at %s was rotated or shown.": "您在 %s 的某个应用的密钥已被更换或查看。",
	"Your application at %s was changed":                               "您在 %s 的应用已更改",
	"One of your applications at %s was changed.":                      "您在 %s 的某个应用已更改。",
	"Tools that you offer at %s have changed":                          "您在 %s 提供的工具有变动",

	"The upstream of one of your capabilities at %s has changed its tools. Agents go on with those that you have " +
		"accepted.": "您在 %s 的某个能力的上游更改了其工具。智能体仍使用您已接受的版本。",

	"What has changed is held. Look at the difference at %s, and accept what you want.": "变动的内容已被暂存。请在 %s 查看差异，并接受您需要的部分。",

	"Capability": "能力",

	"Your rights at %s were changed":  "您在 %s 的权限已更改",
	"Your rights at %s were changed.": "您在 %s 的权限已更改。",
	"%s: %s":                          "%s：%s",
	"What":                            "内容",
	"When":                            "时间",
	"From":                            "来源",
	"Browser":                         "浏览器",
	"Added":                           "新增",
	"Removed":                         "移除",
	"The password was changed, and you were signed out everywhere else.": "密码已修改，其他设备均已退出登录。",
	"The email address was changed.":                                     "邮箱地址已更改。",
	"An email address was added.":                                        "已新增邮箱地址。",
	"If it was you, you need do nothing. If it was not, sign in at %s, sign out everywhere, set a new password, and " +
		"tell the operator.": "如果是您本人操作，无需理会。如果不是，请在 %s 登录，退出所有设备，设置新密码，并告知管理员。",
	"So much was done within an hour that you will get no more emails about it until the hour is " +
		"over.": "一小时内的操作过多，在这一小时结束之前不会再向您发送此类邮件。",

	// Changing a password.
	"Change your password": "修改密码",
	"You will be signed out everywhere else, also of the applications.": "其他设备和各应用都将退出登录。",
	"Current password": "当前密码",
	"The current password is not right. Check it and try again.":                "当前密码不正确。请检查后重试。",
	"Your password is changed":                                                  "密码已修改",
	"You are signed in here, and signed out everywhere else.":                   "当前设备保持登录，其他设备均已退出登录。",
	"You sign in without a password, so there is none to change.":               "您的账户没有设置密码，因此无需修改。",
	"The new password is too short. Choose one of at least 8 characters.":       "新密码太短。请至少使用 8 个字符。",
	"The new password is too long. Choose one of at most 1,024 characters.":     "新密码太长。请最多使用 1,024 个字符。",
	"The new password is among the first that are guessed. Choose another one.": "新密码过于常见，容易被猜到。请换一个。",
	"A username or an email address is no password. Choose another one.":        "不能使用用户名或邮箱地址作为密码。请换一个。",
	"This password cannot be used. Choose another one.":                         "不能使用此密码。请换一个。",

	// Signing up.
	"Create an account":                             "创建账户",
	"Code of your invitation":                       "邀请码",
	"Email address (if you like)":                   "邮箱地址（可选）",
	"Code of your invitation (if you are new here)": "邀请码（首次使用时填写）",
	"You are new here":                              "您是新用户",
	"Here people need an invitation to become users. Type in its code once; next time you sign in " +
		"without.": "此服务需凭邀请注册。请输入一次邀请码，下次登录无需再填。",
	"You have no account here, and this way does not open one. If you have an account, sign in to it in another way; " +
		"your account page then links this one. Otherwise ask whoever runs this service for an " +
		"account.": "您在此还没有账户，且此方式不开放注册。如已有账户，请用其他方式登录，再在账户页面关联此方式；否则请联系服务运营者开通账户。",
	"With it you can set a new password if you forget yours. We send a code to " +
		"it.": "忘记密码时，可用它重新设置密码。我们会向该邮箱发送验证码。",
	"This username is taken. Choose another one.": "该用户名已被使用。请换一个。",
	"This username cannot be used. Choose one of 1 to 100 visible characters.": "不能使用此用户名。请使用 1 " +
		"到 100 个可见字符。",
	"This username mixes writing systems that can be mistaken for each other. Use the letters of " +
		"one.": "此用户名混用了容易混淆的文字。请只使用一种文字的字母。",
	"Type in the code of your invitation. Who invited you has " +
		"it.": "请输入邀请码。您可以向邀请人索取。",
	"This invitation is not right, or has been used, or has ended. Check it, or ask for another " +
		"one.": "邀请码不正确、已被使用或已失效。请检查，或另行索取。",

	// The pages of signing out.
	"Sign out?": "要退出登录吗？",
	"You will be signed out here. Applications you are signed in to may stay open.": "您将在此退出登录。您已登录的应用可能仍保持登录状态。",
	"You are signed out":         "您已退出登录",
	"You can close this window.": "您可以关闭此窗口。",
	"Continue to %s":             "前往 %s",

	// Why the sign-in form is refused, and what else can go wrong there.
	"This form was sent from another site. Open the sign-in page itself and try " +
		"again.": "此表单来自其他网站。请直接打开登录页面后重试。",
	"The form could not be read. Open the sign-in page again and use the form on " +
		"it.": "无法读取此表单。请重新打开登录页面，并使用页面上的表单。",
	"A field of the form was sent twice. Open the sign-in page again and use the form on " +
		"it.": "表单中有字段重复提交。请重新打开登录页面，并使用页面上的表单。",
	"The form holds something that is not text. Open the sign-in page again and use the form on " +
		"it.": "表单中包含非文本内容。请重新打开登录页面，并使用页面上的表单。",
	"The form is too large. Open the sign-in page again and use the form on " +
		"it.": "表单过大。请重新打开登录页面，并使用页面上的表单。",
	"The request that brought you here is damaged. Go back to the application and start " +
		"again.": "将您带到此处的请求已损坏。请返回应用并重新开始。",
	"The request that brought you here is too long to sign in this way: it has %s bytes, and %s can be kept until you " +
		"come back. The longest part is %s with %s bytes. Sign in with your password, or ask whoever runs the application " +
		"to send less.": "将您带到此处的请求过长，无法以此方式登录：请求有 %s 字节，最多可保留 %s 字节。最长的部分是 %s，有 %s 字节。请使用密码登录，或请应用的运营者缩短请求。",
	"The request that brought you here is too long. Go back to the application and start " +
		"again.": "将您带到此处的请求过长。请返回应用并重新开始。",
	"Please try again shortly": "请稍后再试",
	"We cannot look you up at the moment. Wait a minute, then try again; nothing is " +
		"lost.": "暂时无法查询您的账户，您的数据不受影响。请稍等一分钟后重试。",
	"Too many people are signing in at this moment. Wait a few seconds, then try again; nothing is " +
		"lost.": "当前登录人数过多，您的数据不受影响。请等待几秒后重试。",
	"Something went wrong here": "服务出现问题",
	"This is our fault, not yours. Try again, and tell the operator the time if it " +
		"stays.": "这是我们的问题，与您无关。请重试；如仍未解决，请将发生时间告知管理员。",

	// The page for the code of a device.
	"Connect a device": "连接设备",
	"Sign in first. Then you can connect the device that shows you a code.": "请先登录，然后即可连接显示代码的设备。",
	"Type the code that your device shows.":                                 "请输入您的设备上显示的代码。",
	"Look at your device. Go on only if it shows exactly this code.":        "请查看您的设备。仅当设备上显示的代码与此完全相同时才继续。",
	"Code of the device": "设备上的代码",
	"Has somebody sent you here with a code? Then close this page: nobody from support ever asks for " +
		"this.": "是别人把代码和此网址发给您的吗？请关闭此页面：客服人员绝不会要求您这样做。",
	"A code has 8 letters, such as BCDF-GHJK. Type it as your device shows " +
		"it.": "代码由 8 个字母组成，例如 BCDF-GHJK。请按设备上显示的内容输入。",
	"There is no such code, or it has expired. Look at your device again, or begin there once " +
		"more.": "没有此代码，或代码已过期。请再次查看您的设备，或在设备上重新开始。",
	"You have typed too many wrong codes. Wait %s minutes, then try " +
		"again.": "错误代码输入次数过多。请等待 %s 分钟后重试。",
	"This request has been answered already, or has expired. If your device still waits, begin there once " +
		"more.": "此请求已被处理或已过期。如果您的设备仍在等待，请在设备上重新开始。",
	"The application that asked for this may not be used here any more. Nothing was " +
		"allowed.": "提出此请求的应用已不能在此使用。未授予任何权限。",
	"Allow a device":                      "允许设备访问",
	"Allow a device to use your account?": "允许一台设备使用您的账户吗？",
	"Go on only if you started this yourself, on a device in front of you. Whoever holds that device will be able to do " +
		"what is listed here.": "仅当这是您本人刚刚在面前的设备上发起的操作时才继续。持有该设备的人将能够执行此处列出的操作。",
	"This was begun in another network than yours. If the device is not in front of you, somebody is trying to get into " +
		"your account.": "此请求是从另一个网络发起的。如果该设备不在您面前，说明有人正试图登录您的账户。",
	"Who vouches for it":                "由谁担保",
	"Nobody: it is not registered here": "无人担保：它未在此注册",
	"It is registered here":             "它已在此注册",
	"Begun at the address":              "发起地址",
	"With":                              "使用",
	"Begun":                             "发起时间",
	"less than a minute ago":            "不到一分钟前",
	"a minute ago":                      "一分钟前",
	"%s minutes ago":                    "%s 分钟前",
	"Continue":                          "继续",
	"It wants to:":                      "它请求：",
	"Nobody from support ever asks for this. If somebody has sent you the code, do not allow " +
		"it.": "客服人员绝不会要求您这样做。如果代码是别人发给您的，请不要允许。",
	"Your device is connected": "您的设备已连接",
	"It goes on by itself within a few seconds. You can close this page.": "设备将在几秒钟内自动继续。您可以关闭此页面。",
	"The device gets nothing. You can close this page.":                   "该设备未获得任何权限。您可以关闭此页面。",

	// The account page, and the pages of a user's own data.
	"Signed in here":              "本浏览器登录于",
	"Signed in":                   "登录于",
	"Last used around":            "最近使用约在",
	"To look at":                  "请留意",
	"with a second factor":        "已完成第二步验证",
	"without a second factor":     "未使用第二步验证",
	"your network now":            "您当前的网络",
	"close to your network now":   "与您当前的网络相近",
	"another network":             "其他网络",
	"Sign out all other browsers": "退出其他所有设备",
	"Connected":                   "连接于",
	"Last allowed something on":   "最近一次授权于",
	"Agents and tools":            "智能体和工具",
	"These act for you with what you have allowed them. Nobody has registered or checked them " +
		"here.": "它们凭您授予的权限代您操作。没有人在此注册或核查过它们。",
	"Added on":            "添加于",
	"Your data":           "您的数据",
	"Edit your profile":   "编辑个人资料",
	"Download your data":  "下载您的数据",
	"Delete your account": "注销账户",
	"You have no confirmed email address, so we cannot warn you when something happens to your " +
		"account.": "您没有已验证的邮箱地址，账户有变动时我们无法提醒您。",

	"Your profile": "个人资料",
	"Applications that you allow to see your profile see this.": "您允许查看个人资料的应用会看到这些内容。",
	"Your profile is saved.":                                    "个人资料已保存。",
	"Full name":                                                 "姓名",
	"Nickname":                                                  "昵称",
	"Address of a picture":                                      "头像网址",
	"It begins with https. Leave it empty to have none.": "以 https 开头。留空则没有头像。",
	"Gender":   "性别",
	"Not said": "不填写",
	"Female":   "女",
	"Male":     "男",
	"Location": "所在地",
	"Save":     "保存",
	"A name, a nickname and a location are one line of visible characters each: 200 at most, and fewer if they are " +
		"Chinese.": "姓名、昵称和所在地各为一行可见字符：英文最多 200 个，中文更少。",
	"The address of a picture is one such as https://example.com/me.jpg, with up to 1,024 characters. Or leave it " +
		"empty.": "头像网址的格式如 https://example.com/me.jpg，最多 1024 个字符。也可以留空。",
	"Choose one of the genders on the page, or leave it " +
		"open.": "请选择页面上的性别选项，或不填写。",
	"This profile cannot be saved as it is. Change it, then save it " +
		"again.": "无法保存此个人资料。请修改后再保存。",
	"You have done this many times in a row. Wait ten minutes, then try " +
		"again.": "您的操作过于频繁。请等待十分钟后重试。",

	"You get one file with all that we hold about you. Programs can read it, and so can you: it is text " +
		"(JSON).": "您将得到一个文件，其中包含我们保存的关于您的全部数据。它是文本格式（JSON），程序和您本人都能读懂。",
	"What is in it":                                                                          "包含的内容",
	"Your profile, and your ways to sign in":                                                 "个人资料和登录方式",
	"Where you are signed in, and second factors by name":                                    "已登录的浏览器，以及第二步验证方式的名称",
	"Applications and agents, and what you have allowed them":                                "应用和智能体，以及您授予它们的权限",
	"API keys, applications and capabilities of yours":                                       "您的 API 密钥、应用和能力",
	"What was written down about you, up to 10,000 records":                                  "与您有关的操作记录，最多 10000 条",
	"There are no passwords, keys or other secrets in it. Keep it to yourself all the same.": "其中不含密码、密钥等机密信息，但仍请妥善保管。",
	"To download it, sign in once more, so that we know it is you. Then come back " +
		"here.": "下载前请再登录一次，以便我们确认是您本人。然后回到此页面。",
	"Download":                           "下载",
	"All data about you was downloaded.": "关于您的全部数据已被下载。",

	"You tell us here that you want it deleted. An operator of this service does it.": "您可以在此提出注销申请，由本服务的运营者处理。",
	"This is done at once, and nobody can undo it.":                                   "注销立即生效，任何人都无法恢复。",
	"What is removed": "将被删除的内容",
	"Your profile, your username and your ways to sign in":                "个人资料、用户名和登录方式",
	"Where you are signed in, your second factors and your API keys":      "登录状态、第二步验证方式和 API 密钥",
	"What you have allowed applications and agents, which are signed out": "您授予应用和智能体的权限，它们将被退出登录",
	"What stays": "将被保留的内容",
	"How much was used and ordered, for the accounts: with a number in the place of your " +
		"name": "用于记账的用量和订单：以编号代替您的姓名",
	"The records of what was done here, likewise, until the operator's time for keeping them is " +
		"over": "操作记录，同样以编号代替姓名，保留至运营者规定的期限",
	"What applications have stored themselves: ask them": "应用自行保存的数据：请联系这些应用",
	"You may want a copy first.":                         "建议您先保存一份副本。",
	"You own %s applications and %s capabilities. Hand them over or delete them first: in the console, or with the help " +
		"of an administrator.": "您拥有 %s 个应用和 %s 个能力。请先移交或删除它们：可在控制台操作，或请管理员协助。",
	"To delete it, sign in once more, so that we know it is you. Then come back " +
		"here.": "注销前请再登录一次，以便我们确认是您本人。然后回到此页面。",
	"Type your username: %s":                                                          "请输入您的用户名：%s",
	"Ask for it to be deleted":                                                        "申请注销",
	"Delete my account for good":                                                      "永久注销我的账户",
	"Type your username exactly as it stands above the field.":                        "请按输入框上方显示的内容准确输入用户名。",
	"You own something here. Hand it over first.":                                     "您在此仍拥有应用或能力。请先移交。",
	"You are the last administrator here. Make somebody else an administrator first.": "您是最后一位管理员。请先将其他人设为管理员。",
	"Your account is deleted":                                                         "账户已注销",
	"All that was yours here is removed, and you are signed out everywhere. You can close this " +
		"window.": "您在此的所有内容均已删除，并已在所有位置退出登录。您可以关闭此窗口。",
	"You have asked for it": "申请已提交",
	"We have written down that you want your account deleted. An operator of this service will do " +
		"it.": "我们已记录您的注销申请。本服务的运营者将会处理。",
	"You can reach the operator here:":               "您可以通过以下方式联系运营者：",
	"You have asked for your account to be deleted.": "您已申请注销账户。",
	"Your account is closed and you are signed out everywhere, but not all of it could be removed yet. You need do " +
		"nothing: the operator of this service finishes it.": "您的账户已关闭，并已在所有位置退出登录，但部分内容尚未删除。您无需操作：本服务的运营者会完成删除。",
	"Your account at %s is deleted": "您在 %s 的账户已注销",
	"Your account at %s was deleted on the page of the account, by somebody who was signed in as " +
		"you.": "您在 %s 的账户已由以您身份登录的人在账户页面上注销。",
	"If it was you, you need do nothing. If it was not, tell the operator at " +
		"once.": "如果是您本人操作，无需理会。如果不是，请立即告知管理员。",
}
