package page

// accountTexts are those of the account page, and of the data and keys of a user.
var accountTexts = map[string]string{
	// The account page.
	"An application without a site of its own":                       "没有自己网站的应用",
	"Nobody registered it here: what is said of it, it says itself.": "未在本服务登记：以上信息均由其自称。",
	"It registered itself here, and nobody has checked it.":          "自行注册，未经任何人核实。",
	"Sign out this agent":     "将此智能体退出登录",
	"Your account":            "您的账户",
	"Back to the console":     "返回控制台",
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
	"Attributes": "属性",
	"The operator has named these, and applications may be told them. Leave one empty to have " +
		"none.": "这些属性由运营者列出，应用可能会获知。留空则没有该属性。",
	"An attribute is one line of visible characters: 1,024 at most, and fewer if they are " +
		"Chinese.": "属性为一行可见字符：英文最多 1024 个，中文更少。",
	"Nothing is saved, because somebody else has changed an attribute meanwhile. It is shown as it is now: look at it, " +
		"then save again.": "未保存：其间有人更改了属性。页面已显示其当前内容，请查看后再次保存。",
	"This cannot be saved as it is: a user has at most 32 attributes, with those that are not on this page. Empty one " +
		"of them, or ask an administrator to remove one.": "无法保存：每位用户最多 32 个属性，包括此页面未显示的属性。请清空其中一个，或请管理员移除一个。",
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
