/* SPDX-License-Identifier: GPL-2.0-or-later */
/* create.h - makes the tables (sql/clickhouse.sql) on a server as it was installed. */
#ifndef FLEET_CREATE_H
#define FLEET_CREATE_H

#include "base/err.h"
#include "fleet/http.h"

/* Tables that the server has stay as they are.  Errors are those of http_query(). */
int create_tables(const struct http_server *server, struct err *e);

#endif
