-- Shown and seen: messages of a card become known. The order is acknowledged last.
local function acknowledge(result)
  if R.order ~= '' then
    redis.call('XACK', OUT, 'post', R.order)
    redis.call('XDEL', OUT, R.order)
  end
  return result
end

local early = load()
if early then return acknowledge(early) end
local call = the_call()
if not call then return acknowledge(commit(refused('no_such_call', nil))) end

local card
for _, known in ipairs(call.cards) do
  if known.channel == R.channel then card = known end
end
if not card then
  card = {channel = R.channel, ordered = true, messages = {}}
  call.cards[#call.cards + 1] = card
end
local known = {}
card.messages = card.messages or {}
for _, message in ipairs(card.messages) do known[message] = true end
local behind
if R.act == 'seen' then
  if known[R.messages[1]] then return commit({k = 'Recorded', behind = false}) end
  behind = true
else
  behind = R.version < call.version
end
for _, message in ipairs(R.messages) do
  if not known[message] then
    known[message] = true
    card.messages[#card.messages + 1] = message
  end
end
card.ordered = true
if R.repeated then card.look_at = now + LOOK_MS end
quiet(call)
if behind then order('edit', call, R.channel) end
return acknowledge(commit({k = 'Recorded', behind = behind}))
