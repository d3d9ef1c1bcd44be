package page

// deviceTexts are those of the pages that sign a user in on another device by a code.
var deviceTexts = map[string]string{
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
}
