#include "components/transport/tcp/socket.h"

namespace ashlar::tcp {

void prepare(int socket, const Config& config) { prepare_stream(socket, config.user_timeout, config.keepalive); }

}  // namespace ashlar::tcp
