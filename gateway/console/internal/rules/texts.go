package rules

import "github.com/keystile/keystile/gateway/console/internal/ui"

var texts = ui.Texts{
	"Permissions": "权限", "Permissions of an API": "API 的权限", "Access rules": "权限规则", "Tool sets": "工具集",
	"Preview access": "预览权限",
	"Tools":          "工具", "MCP server": "MCP 服务器", "API": "API", "Import an API": "导入 API",
	"Owner": "所有者", "Rules": "规则", "Settings": "设置",
	"Who may use which tools. What somebody may not use is not shown to them.": "谁可以使用哪些工具。无权使用的工具不会显示给对方。",
	"Without a rule that allows": "没有允许规则时", "Everyone else": "其他人", "everyone may use them": "所有人均可使用",
	"the owner and administrators may use them": "仅所有者与管理员可使用",
	"no access": "无权使用", "the default": "按默认权限", "show": "查看", "paused": "已暂停",
	"read-only tools": "只读工具", "all": "全部", "and %s more": "另有 %s 项",
	"The owner, administrators, and those whom a rule allows may use these tools. A rule that denies takes " +
		"precedence.": "所有者、管理员以及被规则允许的对象可使用这些工具。拒绝规则优先。",
	"Everyone may use these tools, except those whom a rule denies " +
		"them.": "除被规则拒绝的对象外，所有人均可使用这些工具。",
	"The owner and administrators may use these tools, except those whom a rule denies " +
		"them.": "仅所有者与管理员可使用这些工具，被规则拒绝的除外。",
	"The default": "默认权限", "the setting %s is %s": "设置 %s 的值为 %s",
	"the setting %s is auto, and nobody becomes a user by themselves": "设置 %s 的值为 auto，且无人可自行注册",
	"the setting %s is auto, and people may become users: " +
		"%s": "设置 %s 的值为 auto，且可通过以下方式注册：%s",
	"the setting %s is auto, and the configuration of the service decides, or users who came by themselves " +
		"earlier": "设置 %s 的值为 auto，由服务的配置或此前自行注册的用户决定",
	"Who": "对象", "Effect": "效果", "Action": "操作", "deny": "拒绝", "allow": "允许", "set by an operator": "由运维人员设置",
	"Remove": "移除",
	"There are no rules, so the default applies. A rule that allows leaves these tools to those whom it names; one that " +
		"denies keeps them from somebody.": "没有规则，按默认权限处理。允许规则只让所列对象使用这些工具，拒绝规则则禁止所列对象使用。",
	"Permissions say who may use the tools of an API. There is no API yet.": "权限决定谁可以使用某个 API 的工具。目前还没有 API。",
	"a person": "某个人", "an application or an agent": "某个应用或智能体", "everyone": "所有人", "the role": "角色：", "the tier": "套餐：",
	"Person": "用户", "a username or an id; it counts for a person alone": "用户名或 ID；仅在选择“某个人”时有效",
	"a name or a client_id; it counts for an application or an agent alone": "名称或 client_id；仅在选择“某个应用或智能体”时有效",
	"Add a rule":            "添加规则",
	"Deny instead of allow": "拒绝而非允许", "Only read-only tools": "仅限只读工具",
	"Only these tools, one per line; empty: all": "仅限这些工具，每行一个；留空表示全部",
	"Add": "添加", "The rule was added.": "规则已添加，立即生效。", "The rule was removed.": "规则已移除。",
	"Tools that belong together, at an MCP address of their own. A tool set by itself gives access to " +
		"nothing.": "为智能体组合的一组工具，有独立的 MCP 地址。工具集本身不授予任何权限。",
	"There is no tool set. With one, an agent is given the few tools that it needs in place of " +
		"all.": "还没有工具集。有了工具集，就可以只把智能体需要的少数工具交给它，而不是全部。",
	"Name": "名称", "Address": "地址", "New tool set": "新建工具集", "Label": "显示名称", "Description": "描述", "Create": "创建",
	"Tools, one per line: api__tool, or api__* for all tools of an API": "工具，每行一个：api__tool，或用 api__* 表示某个 API 的全部工具",
	"The tool set was made.": "工具集已创建。", "The tool set was removed.": "工具集已移除。",
	"Make a tool set": "创建工具集", "Remove a tool set": "移除工具集",
	"Name a user, an application, a role or a tier to see which tools they may use with a token for all tools, and " +
		"why.": "指定用户、应用、角色或套餐，查看其持有全部工具的令牌时可以使用哪些工具，以及依据。",
	"Application": "应用", "Role": "角色", "Tier": "套餐", "Show": "查看", "Tool": "工具", "Sees it": "可见",
	"Because": "依据", "yes": "是", "no": "否",
	"a rule denies it to": "规则拒绝：", "a rule allows it to": "规则允许：",
	"There are no tools on the MCP server.": "MCP 服务器上没有工具。",
	"a manager of the group that owns it":   "拥有它的用户组的组管理员",
	"the owner":                             "所有者", "an administrator": "管理员", "no rule allows it": "没有规则允许",
	"the default: everyone":                     "默认权限：所有人",
	"the default: the owner and administrators": "默认权限：所有者与管理员", "the service hides it from them": "服务未向其开放",
	noCapability.Msg: "没有这个 API", noRule.Msg: "该 API 没有这条规则：它已被移除或替换", noBundle.Msg: "没有这个工具集",
	notTyped.Msg: "请指定用户、应用、角色或套餐",
	noUser.Msg:   "没有该用户：请填写用户名或 sub", noApp.Msg: "没有该应用：请填写名称或 client_id",
	"a group": "某个用户组", "Group": "用户组", "its name; it counts for a group alone": "用户组名称；仅在选择“某个用户组”时有效",
	"the group": "用户组：", "Who may use it": "谁可以使用", "Change who may use a tool set": "更改谁可以使用工具集",
	"everyone, user:NAME, group:NAME, role:ROLE, app:CLIENT_ID or tier:TIER": "everyone、user:用户名、group:用户组名、" +
		"role:角色、app:CLIENT_ID 或 tier:套餐",
	noGroup.Msg: "没有该用户组：请先创建", noGroupNamed.Msg: "缺少用户组：请输入其名称。",
	noPerson.Msg: "缺少用户：请输入姓名或其开头部分，然后选择。", noNamed.Msg: "缺少应用：请输入名称或其开头部分，然后选择。",
}
