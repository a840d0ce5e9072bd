local t = R.timer
local name = member(t.kind, t.number, t.call_id, t.step, t.channel)
local early = load()
if early then
  if early[1] == 'null' then redis.call('ZREM', DUE, name) end
  return early
end
if not armed[name] then
  redis.call('ZREM', DUE, name)
  return commit({k = 'NotDue'})
end
if armed[name] ~= t.at or t.at > now then return commit({k = 'NotDue'}) end

local function lose_run(call)
  if M.stop then
    close(call, 'abandoned', 'cancel', TIMER)
  elseif call.idempotent and call.runs < MAX_RUNS then
    call.state, call.grant_until = 'allowed', now + call.grant_lifetime_ms
    put(call, TIMER)
  else
    ask(call, 'unknown', 'unknown')
    put(call, TIMER)
  end
end

if t.kind == 'wake' then
  record('wake', TIMER)
  ready()
  return commit({k = 'Fired', kind = 'wake'})
end
if t.kind == 'lease' then
  local moved = queue_moved()
  if moved then return moved end
  local failed = M.tries > MAX_TRIES
  record('lease', TIMER)
  M.lease_until, M.state = nil, 'parked'
  if failed and not M.stop then M.stop = {actor = SYSTEM, at = now} end
  for _, id in ipairs(present) do
    local call = C[id]
    if call.state == 'started' then
      lose_run(call)
    elseif failed and not FINAL[call.state] then
      withdraw(call, SYSTEM)
    end
  end
  if failed then close_reply('error', nil) end
  return commit({k = 'Fired', kind = 'lease'})
end

local call = C[t.call_id]
if t.kind == 'expire' then
  expire(call)
elseif t.kind == 'lapse' then
  if held_up(call) then
    record('held_up', TIMER)
    call.grant_until = now + call.grant_lifetime_ms
    quiet(call)
  else
    lapse(call)
  end
elseif t.kind == 'remind' then
  record('remind', TIMER)
  call.reminded = call.reminded + 1
  quiet(call)
  for _, card in ipairs(call.cards) do order('remind', call, card.channel, t.step) end
elseif t.kind == 'escalate' then
  record('escalate', TIMER)
  local to = call.escalate.to
  if to ~= call.approvers then call.escalated_to = to end
  call.escalated = true
  put(call, TIMER)
  for _, card in ipairs(call.cards) do order('escalate', call, card.channel) end
else
  record('look', TIMER)
  for _, card in ipairs(call.cards) do
    if card.channel == t.channel then card.look_at = nil end
  end
  quiet(call)
  order('look', call, t.channel)
end
return commit({k = 'Fired', kind = t.kind, call = {reply_id = R.rid, call_id = call.id, turn = call.turn}})
