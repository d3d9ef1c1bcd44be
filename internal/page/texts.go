package page

// chinese is the one table of messages: the English text as it is written where it is
// used, and how zh-CN says it. A %s stays a %s.
var chinese = map[string]string{
	// The frame and the pages of what can not go on.
	"Secured by Keystile": "由 Keystile 提供安全登录",
	"Status %s":           "状态码 %s",

	"This request can not go on":                   "此请求无法继续",
	"client_id is not that of an application here": "client_id 不属于在此注册的应用",
	"this application is disabled":                 "该应用已被停用",
	"redirect_uri is not allowed":                  "redirect_uri 不被允许",
	"this form was sent from another site":         "此表单来自其他网站",

	// The sign-in page.
	"Sign in":                 "登录",
	"Sign in to %s":           "登录 %s",
	"Sign-in failed":          "登录失败",
	"Username":                "用户名",
	"Password":                "密码",
	"You will continue to %s": "登录后将前往 %s",
	"The username or the password is not right. Check both and try again.": "用户名或密码不正确。请检查后重试。",

	// Other ways in.
	"Other ways to sign in": "其他登录方式",

	// Signing in by a code on the screen: the page that shows it.
	"Scan with your phone":                                           "用手机扫码登录",
	"Sign in with your phone":                                        "用手机扫码登录",
	"Sign in to %s with your phone":                                  "用手机扫码登录 %s",
	"Point the camera of your phone at this code and open the link.": "用手机相机对准此二维码，并打开链接。",
	"Sign in on the phone, if you are not signed in there yet.":      "如果手机上尚未登录，请先在手机上登录。",
	"Confirm on the phone.":                                          "在手机上确认。",
	"A code to scan with the camera of your phone":                   "供手机相机扫描的二维码",
	"Waiting for your phone":                                         "正在等待手机扫码",
	"Scanned. Now confirm on your phone.":                            "已扫码。请在手机上确认。",
	"Confirmed. You are being signed in.":                            "已确认，正在登录。",
	"This code is too old.":                                          "此二维码已过期。",
	"The sign-in was rejected on the phone.":                         "已在手机上拒绝此次登录。",
	"I have confirmed on my phone: continue":                         "我已在手机上确认，继续",
	"Get a new code":                                                 "获取新的二维码",
	"You have not confirmed on your phone yet. Scan the code, confirm there, then continue here.":                                  "您尚未在手机上确认。请扫描二维码并在手机上确认，然后在此继续。",
	"This code has been used or is too old. Get a new one.":                                                                        "此二维码已被使用或已过期。请获取新的二维码。",
	"Whoever confirmed this sign-in has signed out on the phone since, or may not sign in any more. Get a new code and try again.": "确认此次登录的用户已在手机上退出登录，或已不能登录。请获取新的二维码后重试。",
	"Your network has asked for too many codes. Wait a minute, then try again.":                                                    "您所在的网络获取二维码的次数过多。请等待一分钟后重试。",

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
	"This signs in another device, not this phone. Confirm only if the code is on a screen in front of you. If somebody has sent it to you, reject it.": "此操作将登录另一台设备，而不是这部手机。仅当二维码显示在您面前的屏幕上时才确认；如果是别人发给您的，请拒绝。",
	"Confirm":            "确认",
	"Reject":             "拒绝",
	"You have confirmed": "您已确认",
	"The other device is being signed in. You can close this page.": "另一台设备正在登录。您可以关闭此页面。",
	"You have said no": "您已拒绝",
	"Nobody was signed in. You can close this page.":                                               "没有人被登录。您可以关闭此页面。",
	"This code has been used or is too old. Get a new one on the other device and scan that.":      "此二维码已被使用或已过期。请在另一台设备上获取新的二维码并扫描。",
	"Somebody else has scanned this code before. Get a new one on the other device and scan that.": "此二维码已被其他人扫描。请在另一台设备上获取新的二维码并扫描。",
	"The form says neither yes nor no. Scan the code again and use the buttons on the page.":       "表单中既没有同意也没有拒绝。请重新扫描二维码，并使用页面上的按钮。",

	// Other providers.
	"Sign in with WeChat": "使用微信登录",
	"Sign in with QQ":     "使用 QQ 登录",
	"Sign in with Alipay": "使用支付宝登录",
	"Sign in with Douyin": "使用抖音登录",
	"Link WeChat":         "绑定微信",
	"Link QQ":             "绑定 QQ",
	"Link Alipay":         "绑定支付宝",
	"Link Douyin":         "绑定抖音",
	"This sign-in was begun in another browser, or too long ago. Begin again.":                      "此次登录是在其他浏览器中开始的，或已超时。请重新开始。",
	"You have not allowed it there, so you are not signed in. Try again, or choose another way.":    "您未在对方授权，因此没有登录。请重试或选择其他方式。",
	"The provider does not know this sign-in any more. Begin again.":                                "对方已不再认可此次登录。请重新开始。",
	"The provider can not say who you are at the moment. Try again shortly, or choose another way.": "对方暂时无法确认您的身份。请稍后重试或选择其他方式。",
	"You can not sign in here in this way. Choose another way, or ask whoever runs this service.":   "您无法以此方式登录。请选择其他方式，或联系管理员。",
	"Somebody else has signed in here meanwhile. Open your account page and begin again.":           "期间有其他人在此登录。请打开账户页面重新开始。",
	"This is how somebody else signs in here already. Sign in as them and unlink it there first.":   "此登录方式已属于其他账户。请先登录该账户并解除绑定。",

	// The locked page.
	"Too many attempts": "尝试次数过多",
	"There were too many failed attempts from your network. Wait a minute, then sign in again.":   "您所在的网络登录失败次数过多。请等待一分钟后重新登录。",
	"There were too many failed attempts from your network. Wait %s minutes, then sign in again.": "您所在的网络登录失败次数过多。请等待 %s 分钟后重新登录。",
	"There are too many attempts from your network at once. Wait a few seconds, then try again.":  "您所在的网络同时尝试登录的次数过多。请稍等几秒后重试。",
	"Back to sign-in": "返回登录",

	// The page of who is signed in.
	"You are signed in": "您已登录",
	"Sign out":          "退出登录",

	// The consent page, and what an application may learn.
	"Allow access":                    "授权访问",
	"Allow %s?":                       "允许 %s 访问吗？",
	"The application at %s wants to:": "位于 %s 的应用希望：",
	"Know that it is you when you come back, with your nickname, your picture and how you signed in": "在您再次访问时识别您，并获取您的昵称、头像和登录方式",
	"See your name, username, gender and location":                                                   "查看您的姓名、用户名、性别和所在地",
	"See your email address":       "查看您的电子邮箱地址",
	"Allow":                        "允许",
	"Do not allow":                 "不允许",
	"Not you? Use another account": "不是您？使用其他账户",
	"Whatever you answer, you will be sent back to %s.": "无论您如何选择，都将返回 %s。",

	// The account page.
	"Your account":            "您的账户",
	"Where you are signed in": "已登录的设备",
	"This one":                "当前设备",
	"Sign out everywhere":     "退出所有设备",
	"This signs out every browser, this one too, and every application you have signed in to.": "这将使所有浏览器（包括当前浏览器）以及您登录过的所有应用退出登录。",
	"Connected applications":      "已连接的应用",
	"You have signed in to it.":   "您登录过此应用。",
	"Since %s":                    "自 %s 起",
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
	"Sign in once more, so that we know it is you. Then do again what you wanted to do.":                         "请再次登录以确认是您本人，然后重新进行刚才的操作。",
	"This is the only way you can sign in. Link another one first, then unlink this one.":                        "这是您唯一的登录方式。请先绑定其他方式，再解除此绑定。",
	"Your username stays yours as long as you have the account, so it can not be unlinked.":                      "用户名在账户存续期间始终属于您，因此无法解除绑定。",
	"It is done, but it could not be written down. Go back to your account and see that it is.":                  "操作已完成，但未能记录。请返回您的账户进行确认。",
	"You are signed out here, but applications may not be yet. Sign in again and sign out everywhere once more.": "您已在此退出登录，但各应用可能尚未退出。请重新登录并再次选择退出所有设备。",

	// The pages of signing out.
	"Sign out?": "要退出登录吗？",
	"You will be signed out here. Applications you are signed in to may stay open.": "您将在此退出登录。您已登录的应用可能仍保持登录状态。",
	"You are signed out":         "您已退出登录",
	"You can close this window.": "您可以关闭此窗口。",

	// Why the sign-in form is refused, and what else can go wrong there.
	"This form was sent from another site. Open the sign-in page itself and try again.":              "此表单来自其他网站。请直接打开登录页面后重试。",
	"The form could not be read. Open the sign-in page again and use the form on it.":                "无法读取此表单。请重新打开登录页面，并使用页面上的表单。",
	"A field of the form was sent twice. Open the sign-in page again and use the form on it.":        "表单中有字段重复提交。请重新打开登录页面，并使用页面上的表单。",
	"The form holds something that is not text. Open the sign-in page again and use the form on it.": "表单中包含非文本内容。请重新打开登录页面，并使用页面上的表单。",
	"The form is too large. Open the sign-in page again and use the form on it.":                     "表单过大。请重新打开登录页面，并使用页面上的表单。",
	"The request that brought you here is damaged. Go back to the application and start again.":      "将您带到此处的请求已损坏。请返回应用并重新开始。",
	"The request that brought you here is too long. Go back to the application and start again.":     "将您带到此处的请求过长。请返回应用并重新开始。",
	"Please try again shortly": "请稍后再试",
	"We can not look you up at the moment. Wait a minute, then try again; nothing is lost.": "暂时无法查询您的账户，您的数据不受影响。请稍等一分钟后重试。",
	"Something went wrong here": "服务出现问题",
	"This is our fault, not yours. Try again, and tell the operator the time if it stays.": "这是我们的问题，与您无关。请重试；如仍未解决，请将发生时间告知管理员。",
}
